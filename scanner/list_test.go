package scanner

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
)

// TestGlobMatchesAsRedis compares with a server, on patterns made of everything
// that means something in one.
func TestGlobMatchesAsRedis(t *testing.T) {
	c := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { c.Close() })
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "c", "-", "*", "?", "[", "]", "^", `\`, "[a-c]", "[^a]", "[c-a]", `[\]a]`, "[a", "[]", "[^]", "é", "\x00"}
	text := func(n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	var keys []string
	for range 300 {
		key := text(5)
		keys = append(keys, key)
		if err := c.Set(t.Context(), key, "x", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for range 2000 {
		pattern := text(6)
		want, err := c.Keys(t.Context(), pattern).Result()
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		var got []string
		for _, key := range keys {
			if globMatch(pattern, key) {
				got = append(got, key)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pattern %q matches %q, on a server %q", pattern, got, want)
		}
	}
}

func TestGlobIsNotExponential(t *testing.T) {
	began := time.Now()
	globMatch(strings.Repeat("a*", 100)+"b", strings.Repeat("a", 10_000))
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
}

const (
	tokenA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func listValue(ttl time.Duration, head string) value {
	return value{key: "lock:x", ttl: ttl, kind: kindString, size: int64(len(head)), head: head}
}

func TestQuorumOfAListedLock(t *testing.T) {
	ours := func(ttl time.Duration, token, counter string) value {
		return listValue(ttl, token+":"+counter+"|host/1|1700000000000|")
	}
	none := value{key: "lock:x", kind: kindNone, ttl: never}
	s := time.Second
	for name, test := range map[string]struct {
		looks  []value
		nodes  int
		split  bool
		ttl    time.Duration
		holder string
	}{
		"all agree":            {[]value{ours(5*s, tokenA, "7"), ours(4*s, tokenA, "7"), ours(3*s, tokenA, "7")}, 3, false, 4 * s, "host/1"},
		"counters differ":      {[]value{ours(5*s, tokenA, "7"), ours(4*s, tokenA, "8"), none}, 2, false, 4 * s, "host/1"},
		"minority":             {[]value{ours(5*s, tokenA, "7"), none, none}, 1, false, 0, "host/1"},
		"split":                {[]value{ours(5*s, tokenA, "7"), ours(9*s, tokenB, "7"), ours(4*s, tokenA, "7")}, 2, true, 4 * s, "host/1"},
		"one never expires":    {[]value{ours(never, tokenA, "7"), ours(2*s, tokenA, "7"), ours(1*s, tokenA, "7")}, 3, false, 2 * s, "host/1"},
		"a quorum never does":  {[]value{ours(never, tokenA, "7"), ours(never, tokenA, "7"), ours(1*s, tokenA, "7")}, 3, false, never, "host/1"},
		"another's on one":     {[]value{listValue(s, "random"), listValue(2*s, "random"), listValue(3*s, "other!")}, 2, true, s, ""},
		"one server":           {[]value{listValue(never, "random")}, 1, false, never, ""},
		"two of two needed":    {[]value{ours(5*s, tokenA, "7"), ours(3*s, tokenA, "7")}, 2, false, 3 * s, "host/1"},
		"other type elsewhere": {[]value{{key: "lock:x", kind: "zset", ttl: s}, ours(3*s, tokenA, "7"), ours(3*s, tokenA, "7")}, 2, true, 3 * s, "host/1"},
	} {
		l, ok := newLock(test.looks)
		if !ok || l.Nodes != test.nodes || l.Of != len(test.looks) || l.Split != test.split || l.TTL != test.ttl || l.Holder.Name != test.holder {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if _, ok := newLock([]value{none, none}); ok {
		t.Error("a lock that nobody has was listed")
	}
}

func TestTopKeepsTheFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var all []Lock
	for i := range 500 {
		l := Lock{Key: "lock:" + string(rune('a'+i%26)) + time.Duration(i).String(), TTL: time.Duration(random.IntN(50)) - 1}
		l.Resource = l.Key[len("lock:"):]
		if i%3 > 0 {
			l.Since = time.Unix(int64(random.IntN(50)), 0)
		}
		all = append(all, l)
	}
	for _, order := range []Order{ByTTL, ByAge, ByResource} {
		for _, reverse := range []bool{false, true} {
			o := ListOptions{Order: order, Reverse: reverse}
			kept := newTop(o.comparison(), 20)
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, l := range all {
				kept.offer(l)
			}
			got, omitted := kept.result()
			compare := o.comparison()
			want := slices.Clone(all)
			slices.SortFunc(want, func(a, b Lock) int { return compare(&a, &b) })
			if omitted != 480 || !slices.Equal(got, want[:20]) {
				t.Errorf("%s, reverse %v: %d omitted, kept %v, want %v", order, reverse, omitted, got, want[:20])
			}
		}
	}
}

// TestToldIsBounded checks that what is not remembered is told again, not lost.
func TestToldIsBounded(t *testing.T) {
	told := newTold(2)
	got := ""
	for _, key := range []string{"a", "b", "a", "c", "b", "c"} {
		if told.first(key) {
			got += key
		}
	}
	if got != "abcc" || len(told.keys) != 2 {
		t.Errorf("told %s, want abcc; remembers %d", got, len(told.keys))
	}
}

func TestOrders(t *testing.T) {
	locks := []Lock{
		{Key: "a", Resource: "a", TTL: time.Second, Since: time.Unix(5, 0)},
		{Key: "b", Resource: "b", TTL: -1},
		{Key: "c", Resource: "c", TTL: time.Hour, Since: time.Unix(3, 0)},
		{Key: "d", Resource: "d", TTL: 0, Since: time.Unix(9, 0)},
	}
	for order, want := range map[Order]string{ByTTL: "bcad", ByAge: "cadb", ByResource: "abcd"} {
		compare := order.comparison()
		sorted := slices.Clone(locks)
		slices.SortFunc(sorted, func(a, b Lock) int { return compare(&a, &b) })
		got := ""
		for _, l := range sorted {
			got += l.Key
		}
		if got != want {
			t.Errorf("by %s: %s, want %s", order, got, want)
		}
	}
}
