package scripts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// peek asks a server with this marker who has the lock. "" lets it answer in any case.
func (s *scripted) peek(marker string) (driver.PeekReply, error) {
	s.t.Helper()
	val, err := s.run(s.scripts.Peek, append(s.scripts.PeekArgs(&driver.PeekRequest{Key: s.keys.lock}, unheard), marker))
	if err != nil {
		return driver.PeekReply{}, err
	}
	return parsePeek(val)
}

// content is every key of the server with its value, and how often the data was changed.
func (s *scripted) content() string {
	s.t.Helper()
	all := make(map[string]string)
	for _, key := range s.client.Keys(s.t.Context(), "*").Val() {
		all[key] = s.client.Dump(s.t.Context(), key).Val()
	}
	changes := ""
	for line := range strings.Lines(s.client.Info(s.t.Context(), "persistence").Val()) {
		if strings.HasPrefix(line, "rdb_changes_since_last_save:") {
			changes = line
		}
	}
	text := changes
	for _, key := range slices.Sorted(maps.Keys(all)) {
		text += fmt.Sprintf("%s = %q\n", key, all[key])
	}
	return text
}

// TestScriptsPeekWithoutATrace: whatever is there, a peek describes it and changes no key, and Redis counts no change.
func TestScriptsPeekWithoutATrace(t *testing.T) {
	s := newScripted(t)
	see := func(what string, want driver.PeekReply) {
		t.Helper()
		before := s.content()
		got, err := s.peek("")
		if got.Held && want.TTL > 0 {
			if got.TTL <= 0 || got.TTL > want.TTL {
				t.Errorf("%s: TTL %v, want at most %v", what, got.TTL, want.TTL)
			}
			got.TTL = want.TTL
		}
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, want)
		}
		if after := s.content(); after != before {
			t.Errorf("%s: a peek changed\n%s\nto\n%s", what, before, after)
		}
	}
	see("an empty server", driver.PeekReply{})
	grant := s.granted(driver.AcquireRequest{Token: token("a"), Floor: 7})
	held := driver.PeekReply{Held: true, Counter: grant.Counter, TTL: scriptTTL, Holder: "host|1|"}
	see("a lock", held)
	if _, err := s.acquire(driver.AcquireRequest{Token: token("b"), Waiter: driver.Waiter{ID: "w", Enqueue: true}},
		""); err != nil {
		t.Fatal(err)
	}
	see("a lock with a waiter", held)
	s.released(driver.ReleaseRequest{Token: token("a"), Tombstone: scriptTTL, Handoff: scriptTTL})
	see("a lock that is reserved", driver.PeekReply{})
	s.set(s.keys.lock, "another library's token")
	see("another library's lock without a TTL", driver.PeekReply{Held: true, TTL: -1e6})
	s.client.Del(t.Context(), s.keys.lock)
	s.client.HSet(t.Context(), s.keys.lock, "owner", 1)
	see("a hash", driver.PeekReply{Held: true, TTL: -1e6})
	s.client.Del(t.Context(), s.keys.lock)
	s.set("lockscope:peek:{"+s.keys.lock+"}", "whoever wrote this")
	see("the key that nobody writes", driver.PeekReply{})
}

// TestScriptsPeekOnlyWhereTheyVote: a server that may have forgotten says nothing, and is not put into quarantine.
func TestScriptsPeekOnlyWhereTheyVote(t *testing.T) {
	s := newScripted(t)
	s.granted(driver.AcquireRequest{Token: token("a")})
	for _, marker := range []string{"", strings.Replace(ourMarker, "voting", "quarantine", 1)} {
		if marker != "" {
			s.set(guard.MarkerKey, marker)
		}
		before := s.content()
		if reply, err := s.peek(ourMarker); !errors.Is(err, driver.ErrQuarantined) || reply.Held {
			t.Errorf("with the marker %q: %+v, %v", marker, reply, err)
		}
		if after := s.content(); after != before {
			t.Errorf("a peek changed\n%s\nto\n%s", before, after)
		}
	}
	s.set(guard.MarkerKey, ourMarker)
	if reply, err := s.peek(ourMarker); err != nil || !reply.Held {
		t.Errorf("with the expected marker: %+v, %v", reply, err)
	}
}

func TestParsePeek(t *testing.T) {
	for _, c := range []struct {
		reply any
		want  driver.PeekReply
		err   error
	}{
		{[]any{int64(0)}, driver.PeekReply{}, nil},
		{[]any{int64(1), int64(1500), "42", "h|1|"}, driver.PeekReply{Held: true, Counter: 42, TTL: 15e8, Holder: "h|1|"},
			nil},
		{[]any{int64(1), int64(-1), "0", ""}, driver.PeekReply{Held: true, TTL: -1e6}, nil},
		{[]any{int64(5), "voting|..."}, driver.PeekReply{}, driver.ErrQuarantined},
		{[]any{"0"}, driver.PeekReply{}, driver.ErrBadReply},
		{[]any{int64(1), int64(1500), "-42", ""}, driver.PeekReply{}, driver.ErrBadReply},
		{[]any{int64(1), "x", "42", ""}, driver.PeekReply{}, driver.ErrBadReply},
		{int64(0), driver.PeekReply{}, driver.ErrBadReply},
		{redis.Nil, driver.PeekReply{}, driver.ErrBadReply},
	} {
		if got, err := parsePeek(c.reply); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("parsePeek(%v) = %+v, %v; want %+v, %v", c.reply, got, err, c.want, c.err)
		}
	}
}
