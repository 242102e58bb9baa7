package semaphore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// outage is a stub whose nodes can refuse connections: they answer at once.
type outage struct {
	*stub
	down  atomic.Bool
	asked atomic.Int64 // while they are down
}

// tooOften is more than all looks of a few seconds.
const tooOften = 1000

func (o *outage) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if !o.down.Load() || !lock.NewAcquireOptions(opts...).NoWait {
		return o.stub.Acquire(ctx, resource, opts...)
	}
	if o.asked.Add(1) >= tooOften {
		o.down.Store(false) // else time would stop in the bubble
	}
	return nil, &lock.QuorumError{Resource: resource, Nodes: 3, Quorum: 2}
}

// TestOfferWithoutAQuorum: a call to which a slot is offered while the nodes refuse connections looks again later, not
// at once.
func TestOfferWithoutAQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &outage{stub: newStub()}
		s := newSemaphore(t, l, 2)
		held := []*semaphore.Permit{<-waiting(t, s), <-waiting(t, s)}
		must(t, held[1].Release(t.Context()))        // the call waits for this slot, the one released last
		other := <-waiting(t, newSemaphore(t, l, 2)) // which another process takes
		got := waiting(t, s)
		l.down.Store(true)
		must(t, held[0].Release(t.Context())) // the slot is offered
		time.Sleep(2 * time.Second)
		if n := l.asked.Load(); n >= tooOften {
			t.Errorf("the nodes were asked %d times", n)
		}
		l.down.Store(false)
		must(t, (<-got).Release(t.Context()))
		must(t, other.Release(t.Context()))
	})
}
