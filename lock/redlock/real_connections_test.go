package redlock_test

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
)

// TestRealConnections compares what an engine reports about its connections with what its servers see.
func TestRealConnections(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	l := f.locker(lock.WithNodeTimeout(patience))
	for _, c := range l.Connections() {
		if c.Open != 0 || c.Dials != 0 {
			t.Errorf("before the first command: %+v", c)
		}
	}
	pairs(t, l, 64, 5)
	for i := range f.servers {
		eventually(t, patience, "what is reported is what the server sees", func() bool {
			c := l.Connections()[i]
			return c.Open > 0 && c.Open == len(f.connectionIDs(i)) && c.Busy == 0 && c.Waiting == 0
		})
		if c := l.Connections()[i]; c.Node == "" || c.Backend.Name != "redis" || c.Dials < uint64(c.Open) ||
			c.DialFailures != 0 {
			t.Errorf("node %d: %+v", i, c)
		}
	}
	f.kill(0)
	eventually(t, patience, "a dial has failed", func() bool {
		lease, err := l.Acquire(t.Context(), "job", lock.TTL(longTTL))
		must(t, err)
		must(t, lease.Release(t.Context()))
		c := l.Connections()[0]
		return c.Open == 0 && c.DialFailures > 0
	})
	must(t, l.Close())
	for _, c := range l.Connections() {
		if c.Open != 0 || c.Busy != 0 || c.Waiting != 0 {
			t.Errorf("after Close: %+v", c)
		}
	}
}
