package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// realTTL lets a leader keep its term while the machine is busy.
const realTTL = 10 * time.Second

// eventually waits for an answer of the observer.
func eventually(t *testing.T, what string, next func() seen, name string) seen {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		s := next()
		if s.String() == name {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("%s: the observer sees %q, want %q: %+v, %v", what, s, name, s.Observation, s.err)
		}
	}
}

// TestRealObserve: on three redis-servers an observer sees who leads with one server hung, then killed, then empty, and
// the vacancy after the leader's process has died.
func TestRealObserve(t *testing.T) {
	servers := locktest.Servers(t, 3)
	var urls []string
	var clients []redis.UniversalClient
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		t.Cleanup(func() { must(t, c.Close()) })
		clients = append(clients, c)
	}
	process := func(name string) *engine.Engine {
		l, err := redlock.Open(urls, lock.WithInstance(name), lock.WithNodeTimeout(200*time.Millisecond),
			lock.WithMaxTTL(realTTL))
		must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	ctx, cancel := context.WithCancel(t.Context())
	next, done := watch(ctx, process("observer"), election.Interval(50*time.Millisecond))
	defer func() { cancel(); <-done }()

	if s := next(); s.String() != "cannot tell" || !errors.Is(s.err, lock.ErrNoQuorum) {
		t.Errorf("new servers, which nobody has vouched for: %q, %v", s, s.err)
	}
	must(t, redlock.Vouch(t.Context(), clients, lock.WithMaxTTL(realTTL)))
	a := process("a")
	term := campaign(t, a)
	first := eventually(t, "a leads", next, "a")
	if first.Term != term.Number() {
		t.Errorf("term %d, want %d", first.Term, term.Number())
	}
	must(t, servers[0].Pause())
	eventually(t, "one hangs", next, "a")
	must(t, servers[0].Resume())
	must(t, servers[0].Kill())
	eventually(t, "one is dead", next, "a")
	must(t, servers[0].Wipe())
	must(t, servers[0].Restart(t.Context()))
	eventually(t, "one is empty", next, "a")
	must(t, a.Close()) // leaves the lock where it is
	eventually(t, "a is dead", next, "vacant")
	b := campaign(t, process("b"))
	if s := eventually(t, "b leads", next, "b"); s.Term != b.Number() || s.Term <= first.Term {
		t.Errorf("term %d, want %d, after %d", s.Term, b.Number(), first.Term)
	}
	must(t, b.Resign(t.Context()))
	eventually(t, "b has resigned", next, "vacant")
}

// campaign campaigns until a quorum of the servers may vote.
func campaign(t *testing.T, l *engine.Engine) election.Term {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		term, err := election.Campaign(t.Context(), l, "billing", election.TTL(realTTL))
		if err == nil {
			return term
		}
		if !errors.Is(err, lock.ErrNoQuorum) || time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
