package rwlock_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// slowOnce is a node whose first answer comes late, also for a caller that has given up.
type slowOnce struct {
	*locktest.FakeNode
	asked bool
}

func (n *slowOnce) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	reply, err := n.FakeNode.Acquire(ctx, req)
	if !n.asked {
		n.asked = true
		time.Sleep(5 * time.Millisecond)
	}
	return reply, err
}

// TestAWriterQueuesAtASlowNode: two nodes refuse both of its attempts while the slow one has not answered the first.
func TestAWriterQueuesAtASlowNode(t *testing.T) {
	for slow := range 3 { // one of them is the gate
		synctest.Test(t, func(t *testing.T) {
			f, o := &fleet{T: t, judge: &judge{}}, &order{}
			var servers []*locktest.FakeServer
			for i := range 3 {
				servers = append(servers, locktest.NewFakeServer(fmt.Sprintf("node%d", i+1)))
				t.Cleanup(servers[i].Close)
			}
			process := func(slow int) *rwlock.RWLock { // one of len(servers) is none
				var nodes []driver.Node
				for i, s := range servers {
					var n driver.BlockingNode = s.Connect(1, locktest.Faults{})
					if i == slow {
						n = &slowOnce{FakeNode: s.Connect(1, locktest.Faults{})}
					}
					nodes = append(nodes, engine.Async(n))
				}
				l, err := engine.NewEngine(nodes)
				must(t, err)
				t.Cleanup(func() { must(t, l.Close()) })
				return of(t, l)
			}
			first := f.read(process(len(servers)))
			writer := f.later(o, "w1", process(slow).Lock)
			queued := 0
			for _, s := range servers {
				queued += s.QueueLength()
			}
			if queued != 1 {
				t.Errorf("node %d is slow: %d are queued", slow+1, queued)
			}
			f.release(first)
			f.release(<-writer)
		})
	}
}
