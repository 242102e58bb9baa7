package locktest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// NewFakes starts n servers in memory and returns a function that makes lockers on them. Each locker
// behaves like a process of its own. The only fault is a little delay. Servers and lockers are closed when
// their test ends; lockers must end first.
//
//	newLocker := locktest.NewFakes(t, 3)
//	a, b := newLocker(t), newLocker(t)
func NewFakes(t testing.TB, n int, opts ...lock.Option) Maker {
	t.Helper()
	var servers []*FakeServer
	for i := range n {
		s := NewFakeServer(fmt.Sprintf("fake%d", i+1))
		t.Cleanup(s.Close)
		servers = append(servers, s)
	}
	began := time.Now()
	var seeds atomic.Uint64
	return func(t testing.TB, more ...lock.Option) lock.Locker {
		t.Helper()
		var nodes []driver.Node
		for _, s := range servers {
			nodes = append(nodes, engine.Async(s.Connect(seeds.Add(1), Faults{
				RequestDelay: Between(10*time.Microsecond, 200*time.Microsecond),
				ReplyDelay:   Between(10*time.Microsecond, 200*time.Microsecond),
			})))
		}
		// Not the clock of the machine: in a bubble that is another one.
		clock := engine.WithClock(func() time.Duration { return time.Since(began) })
		l, err := engine.NewEngine(nodes, slices.Concat([]lock.Option{clock}, opts, more)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		return l
	}
}
