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

// outage is a stub whose looks can fail at once.
type outage struct {
	*stub
	fails func(resource string) error
	down  atomic.Bool
	asked atomic.Int64 // while they fail
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
	return nil, o.fails(resource)
}

// TestOfferThatFails: a call to which a slot is offered while the nodes refuse connections, or when it has no time left to
// ask them, looks again later, not at once.
func TestOfferThatFails(t *testing.T) {
	for name, fails := range map[string]func(string) error{
		"no quorum": func(name string) error { return &lock.QuorumError{Resource: name, Nodes: 3, Quorum: 2} },
		"no time":   func(name string) error { return &lock.WaitError{Resource: name, Err: lock.ErrMaxWait} },
	} {
		t.Run(name, func(t *testing.T) { testOfferThatFails(t, fails) })
	}
}

func testOfferThatFails(t *testing.T, fails func(string) error) {
	synctest.Test(t, func(t *testing.T) {
		l := &outage{stub: newStub(), fails: fails}
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
