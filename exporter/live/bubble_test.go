package live_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// inBubble runs a test in fake time: a wait of a minute takes no time.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// newServers starts servers: the first answers after two milliseconds, the second after four, and so on.
func newServers(t testing.TB, n int) (servers []*locktest.FakeServer) {
	t.Helper()
	for i := range n {
		s := locktest.NewFakeServer(fmt.Sprintf("node%d", i+1))
		t.Cleanup(s.Close)
		servers = append(servers, s)
	}
	return servers
}

// newRedlock is a process with that name in a bubble.
func newRedlock(t testing.TB, servers []*locktest.FakeServer, instance string) *engine.Engine {
	t.Helper()
	var nodes []driver.Node
	for i, s := range servers {
		d := time.Duration(i+1) * time.Millisecond
		delay := locktest.Between(d, d)
		nodes = append(nodes, engine.Async(s.Connect(1, locktest.Faults{RequestDelay: delay, ReplyDelay: delay})))
	}
	began := time.Now()
	l, err := engine.NewEngine(nodes, lock.WithInstance(instance),
		engine.WithRandom(func(n int64) int64 { return n / 2 }),
		engine.WithClock(func() time.Duration { return time.Since(began) }))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// process is a Redlock on a Board, both with one name.
func process(t testing.TB, servers []*locktest.FakeServer, instance string) (*live.Board, lock.Locker) {
	t.Helper()
	b := newBoard(t, live.WithInstance(instance))
	return b, wrap(t, b, newRedlock(t, servers, instance))
}

// settle lets d pass.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func stateOf(b *live.Board) state.State { return b.State(context.Background()) }

// slow is a Locker on which each Acquire takes the next of its times.
type slow struct {
	noop
	times []time.Duration
}

func (s *slow) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	time.Sleep(s.times[0])
	s.times = s.times[1:]
	return s.noop.Acquire(ctx, resource, opts...)
}
