package keyreader

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
)

// plant writes keys of every shape, a helper key and other keys. It returns the keys that Page must count.
func plant(t *testing.T, c *redis.Client) (keys []string) {
	t.Helper()
	ctx := t.Context()
	many := make([]any, 0, 2*(small.fields+1))
	for i := range small.fields + 1 {
		many = append(many, i, "x")
	}
	for _, cmd := range []*redis.Cmd{
		c.Do(ctx, "set", "lock:string", "value"), c.Do(ctx, "set", "lock:empty", ""),
		c.Do(ctx, "set", "lock:large", strings.Repeat("v", HeadSize+1)),
		c.Do(ctx, "set", "lock:expires", "value", "ex", 3600), c.Do(ctx, "set", "lock:long", "value", "ex", 86400),
		c.Do(ctx, "hset", "lock:hash", "b", 1, "a", 2), c.Do(ctx, append([]any{"hset", "lock:many"}, many...)...),
		c.Do(ctx, "zadd", "lock:zset", 1, "x"), c.Do(ctx, "set", "lockscope:fence:{1}", 1),
		c.Do(ctx, "set", "other", 1),
	} {
		if err := cmd.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"lock:empty", "lock:expires", "lock:hash", "lock:large", "lock:long", "lock:many", "lock:string",
		"lock:zset"}
}

// byKey sorts, and rounds TTLs so that two reads compare equal.
func byKey(values []Value) []Value {
	for i := range values {
		values[i].TTL = values[i].TTL.Round(time.Minute)
	}
	slices.SortFunc(values, func(a, b Value) int { return strings.Compare(a.Key, b.Key) })
	return values
}

// TestScriptAndPlainCommandsSeeTheSame reads keys of all shapes in both ways.
func TestScriptAndPlainCommandsSeeTheSame(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { _ = c.Close() })
	keys := plant(t, c)
	q := Query{Pattern: "lock*", Count: 1000, Limit: 2 * time.Hour}
	for _, wanted := range []Wanted{{}, All()} {
		script, plain := New(c, c, q, ScriptOnly()), New(c, c, q, PlainOnly())
		one, err := script.Page(t.Context(), FirstCursor, wanted)
		if err != nil {
			t.Fatal(err)
		}
		other, err := plain.Page(t.Context(), FirstCursor, wanted)
		if err != nil {
			t.Fatal(err)
		}
		if one.Keys != int64(len(keys)) || one.Keys != other.Keys || one.Next != FirstCursor ||
			other.Next != FirstCursor {
			t.Errorf("%v: %d and %d keys, next %q and %q", wanted, one.Keys, other.Keys, one.Next, other.Next)
		}
		if a, b := byKey(one.Values), byKey(other.Values); !reflect.DeepEqual(a, b) {
			t.Errorf("%v: by script\n%+v\nby plain commands\n%+v", wanted, a, b)
		}
		if want := len(keys); wanted == (Wanted{}) && len(one.Values) != want-1 || wanted == All() &&
			len(one.Values) != want {
			t.Errorf("%v: %d values", wanted, len(one.Values)) // lock:expires is sound
		}
		if !script.Scripted() || plain.Scripted() || script.Calls() == 0 || plain.Calls() <= script.Calls() {
			t.Errorf("%v: scripted %v and %v, %d and %d calls", wanted, script.Scripted(), plain.Scripted(),
				script.Calls(), plain.Calls())
		}
	}
}

// TestPagesGoOnToTheEnd: the pages of both ways have every key, whatever fits in one.
func TestPagesGoOnToTheEnd(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { _ = c.Close() })
	const n = 300
	for i := range n {
		if err := c.Set(t.Context(), fmt.Sprintf("lock:%d", i), "value", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for name, capability := range map[string]Capability{"script": ScriptOnly(), "plain": PlainOnly()} {
		r, seen := New(c, c, Query{Pattern: "lock:*", Count: 10}, capability), make(map[string]bool)
		for cursor, pages := FirstCursor, 0; ; pages++ {
			page, err := r.Page(t.Context(), cursor, All())
			if err != nil || pages > n {
				t.Fatalf("%s: page %d: %v", name, pages, err)
			}
			for _, v := range page.Values {
				seen[v.Key] = true
			}
			if cursor = page.Next; cursor == FirstCursor {
				break
			}
		}
		if len(seen) != n {
			t.Errorf("%s: %d of %d keys", name, len(seen), n)
		}
	}
}

// TestLookKeepsTheOrder looks at more keys than fit in a pipeline, one of which is gone.
func TestLookKeepsTheOrder(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { _ = c.Close() })
	present := plant(t, c)
	var keys []string
	for len(keys) <= Batch {
		keys = append(keys, append([]string{"lock:gone"}, present...)...)
	}
	learnt := New(c, c, Query{Pattern: "*", Count: 10}, Capability{})
	if _, err := learnt.Page(t.Context(), FirstCursor, Wanted{}); err != nil {
		t.Fatal(err)
	}
	for name, capability := range map[string]Capability{"script": learnt.Capability(), "plain": PlainOnly()} {
		values, err := New(c, c, Query{}, capability).Look(t.Context(), keys)
		if err != nil || len(values) != len(keys) {
			t.Fatal(name, len(values), err)
		}
		for i, v := range values {
			if v.Key != keys[i] || v.Gone() != (keys[i] == "lock:gone") {
				t.Errorf("%s: %d is %+v, want %s", name, i, v, keys[i])
			}
		}
	}
}

// TestAConnectionThatCannotBeginIsAnError: go-redis gives no command the error of a SELECT that the server refused. No
// key is gone because of it.
func TestAConnectionThatCannotBeginIsAnError(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr(), DB: 99})
	t.Cleanup(func() { _ = c.Close() })
	for name, capability := range map[string]Capability{"script": ScriptOnly(), "plain": PlainOnly()} {
		values, err := New(c, c, Query{}, capability).Look(t.Context(), []string{"lock:x"})
		if err == nil || !strings.Contains(err.Error(), "DB index is out of range") {
			t.Errorf("%s: %+v, %v", name, values, err)
		}
	}
}

// release is a hook that deletes all keys before one of the pipelines.
type release struct {
	by     *redis.Client
	before int
}

func (*release) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (*release) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (h *release) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if h.before--; h.before == 0 {
			if err := h.by.FlushAll(ctx).Err(); err != nil {
				return err
			}
		}
		return next(ctx, cmds)
	}
}

// TestAKeyThatIsReleasedDuringAPageIsGone: it is not one whose value was left unread.
func TestAKeyThatIsReleasedDuringAPageIsGone(t *testing.T) {
	addr := locktest.Servers(t, 1)[0].Addr()
	by := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = by.Close() })
	for before := 1; ; before++ {
		keys := plant(t, by)
		c, hook := redis.NewClient(&redis.Options{Addr: addr, DisableIdentity: true}), &release{by, before}
		c.AddHook(hook)
		page, err := New(c, c, Query{Pattern: "lock*", Count: 1000}, PlainOnly()).Page(t.Context(), FirstCursor, All())
		if err := errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
		if page.Keys != int64(len(keys)) || len(page.Values) != len(keys) {
			t.Errorf("released before pipeline %d: %d values of %d keys", before, len(page.Values), page.Keys)
		}
		if gone := slices.ContainsFunc(page.Values, func(v Value) bool { return v.Gone() }); before == 1 && !gone {
			t.Error("no key was gone")
		}
		if hook.before > 0 {
			break // there are no more pipelines
		}
	}
}
