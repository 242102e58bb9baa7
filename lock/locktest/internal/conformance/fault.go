package conformance

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

func (s Suite) testFault(t *testing.T) {
	s.run(t, "breaks no promise", (*subtest).holdThroughFault)
}

// holdThroughFault lets callers of three Lockers work while Fault runs. No call may fail, the lease of a writer and
// another lease must never be valid at once, and no more permits than there are.
func (c *subtest) holdThroughFault() {
	const processes, callers, slots = 3, 3, 2
	var all sync.WaitGroup
	inside, taken := &validLeases{writes: make(map[lock.Lease]bool)}, &permits{k: slots}
	for range processes {
		l := c.locker()
		for caller := range callers {
			all.Go(func() { c.sharesThrough(l, caller, inside) })
		}
		if s := c.semaphore(l, slots); !c.NoSemaphores {
			all.Go(func() { c.takesPermitsThrough(s, taken) })
		}
	}
	c.Fault(c)
	all.Wait()
}

const roundsInFault = 12

// throughFault are the options of calls that may have to wait for the end of the fault.
func (c *subtest) throughFault() []lock.AcquireOption {
	return []lock.AcquireOption{lock.TTL(c.TTL), lock.MaxWait(2 * patience)}
}

// sharesThrough reads, and writes in every third round. Without readers it locks.
func (c *subtest) sharesThrough(l lock.Locker, caller int, inside *validLeases) {
	for round := range roundsInFault {
		opts, writes := c.throughFault(), (caller+round)%3 == 0 || !c.Capabilities.Readers
		switch {
		case !c.Capabilities.Readers:
		case writes:
			opts = append(opts, lock.InMode(lock.ModeWrite))
		default:
			opts = append(opts, lock.InMode(lock.ModeRead))
		}
		lease, err := l.Acquire(context.Background(), c.resource, opts...)
		if err != nil {
			c.Error(err)
			return
		}
		inside.enter(c, lease, writes)
		time.Sleep(10 * time.Millisecond)
		inside.leave(lease)
		_ = lease.Release(context.Background()) // what does not arrive ends with its TTL
	}
}

func (c *subtest) takesPermitsThrough(s *semaphore.Semaphore, taken *permits) {
	for range roundsInFault {
		p, err := s.Acquire(context.Background(), c.throughFault()...)
		if err != nil {
			c.Error(err)
			return
		}
		if err := taken.add(p, !c.NoFences); err != nil {
			c.Error(err)
		}
		time.Sleep(10 * time.Millisecond)
		taken.remove(p)
		_ = p.Release(context.Background())
	}
}

// validLeases are the leases of callers that are inside, and whether they write.
type validLeases struct {
	mu     sync.Mutex
	writes map[lock.Lease]bool
}

func (v *validLeases) enter(t testing.TB, lease lock.Lease, writes bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for other, otherWrites := range v.writes {
		if (writes || otherWrites) && other.Remaining() > 0 && lease.Remaining() > 0 {
			t.Errorf("a writer beside another holder: fences %d and %d", other.Fence(), lease.Fence())
		}
	}
	v.writes[lease] = writes
}

func (v *validLeases) leave(lease lock.Lease) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.writes, lease)
}
