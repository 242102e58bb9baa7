package semaphore_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// stub is a Locker whose answers a test decides. An attempt that does not wait gets what is free at once, unless a gate
// holds it up. A wait is granted by a value of waits, and ends with ctx unless it is deaf: then the grant comes all the
// same, as one that was on its way.
type stub struct {
	mu    sync.Mutex
	taken map[string]bool
	looks map[string]chan struct{} // gates of attempts that do not wait
	waits chan struct{}            // a value grants a wait
	deaf  bool
	stuck chan struct{} // receives a value for each look that a gate holds up
	open  []*stubLease
}

func newStub(taken ...string) *stub {
	s := &stub{taken: make(map[string]bool), looks: make(map[string]chan struct{}), waits: make(chan struct{}),
		stuck: make(chan struct{}, 10)}
	for _, resource := range taken {
		s.taken[resource] = true
	}
	return s
}

func (s *stub) set(resource string, taken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[resource] = taken
}

// holdUp makes looks at the resource wait until the channel that it returns is closed.
func (s *stub) holdUp(resource string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks[resource] = make(chan struct{})
	return s.looks[resource]
}

func (s *stub) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	if !lock.NewAcquireOptions(opts...).NoWait {
		done := ctx.Done()
		if s.deaf {
			done = nil
		}
		select {
		case <-s.waits:
			return s.grant(ctx, resource), nil
		case <-done:
			return nil, &lock.WaitError{Resource: resource, Attempts: 1, Err: context.Cause(ctx)}
		}
	}
	s.mu.Lock()
	gate := s.looks[resource]
	s.mu.Unlock()
	if gate != nil {
		s.stuck <- struct{}{}
		<-gate
	}
	s.mu.Lock()
	taken := s.taken[resource]
	s.mu.Unlock()
	if taken {
		return nil, &lock.HeldError{Resource: resource, Holder: lock.Holder{Instance: "other"}}
	}
	return s.grant(ctx, resource), nil
}

func (s *stub) grant(ctx context.Context, resource string) lock.Lease {
	l := &stubLease{stub: s, resource: resource}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[resource] = true
	s.open = append(s.open, l)
	return l
}

// held are the resources that were granted and not released.
func (s *stub) held() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.open {
		all = append(all, l.resource)
	}
	return all
}

type stubLease struct {
	lock.Lease
	stub     *stub
	resource string
	ctx      context.Context
	cancel   context.CancelCauseFunc
}

func (l *stubLease) Context() context.Context { return l.ctx }

func (l *stubLease) Release(context.Context) error {
	l.cancel(lock.ErrReleased)
	time.Sleep(time.Millisecond) // the release travels
	l.stub.mu.Lock()
	defer l.stub.mu.Unlock()
	l.stub.taken[l.resource] = false
	l.stub.open = slices.DeleteFunc(l.stub.open, func(o *stubLease) bool { return o == l })
	return nil
}

// waiting acquires in a goroutine.
func waiting(t *testing.T, s *semaphore.Semaphore) <-chan *semaphore.Permit {
	got := make(chan *semaphore.Permit, 1)
	go func() {
		p, err := s.Acquire(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- p
	}()
	synctest.Wait()
	return got
}

// TestBothGetASlot: the wait in the queue and a look are granted at the same time. The call has one permit, valid, and
// the other one is given back, whichever came first.
func TestBothGetASlot(t *testing.T) {
	for _, waitFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := newStub("pool#0", "pool#1")
			l.deaf = true
			s := newSemaphore(t, l, 2)
			got := waiting(t, s)
			gates := []chan struct{}{l.holdUp("pool#0"), l.holdUp("pool#1")}
			l.set("pool#0", false)
			l.set("pool#1", false)
			time.Sleep(time.Second) // a look is under way
			grantWait := func() { l.waits <- struct{}{} }
			grantLook := func() {
				for _, gate := range gates {
					close(gate)
				}
			}
			acts := []func(){grantWait, grantLook}
			if !waitFirst {
				slices.Reverse(acts)
			}
			for _, act := range acts {
				act()
				synctest.Wait()
			}
			p := <-got
			time.Sleep(10 * time.Millisecond) // the release travels
			if held := l.held(); len(held) != 1 || p.Context().Err() != nil {
				t.Errorf("wait first %v: %v are held; %v", waitFirst, held, context.Cause(p.Context()))
			}
			must(t, p.Release(t.Context()))
		})
	}
}

// TestOfferFollowsTheRelease: a slot is offered when it is free, not when its release begins.
func TestOfferFollowsTheRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newStub()
		s := newSemaphore(t, l, 2)
		held := []*semaphore.Permit{<-waiting(t, s), <-waiting(t, s)}
		must(t, held[1].Release(t.Context()))        // the call waits for this slot, the one released last
		other := <-waiting(t, newSemaphore(t, l, 2)) // which another process takes
		got := waiting(t, s)
		must(t, held[0].Release(t.Context()))
		synctest.Wait()
		if len(got) != 1 {
			t.Error("the slot that was released is free until the next look")
		}
		must(t, (<-got).Release(t.Context()))
		must(t, other.Release(t.Context()))
	})
}

// TestUnusedOfferGoesOn: a call gets its slot from the queue while it is offered another one, which goes to the next call
// at once.
func TestUnusedOfferGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newStub()
		s := newSemaphore(t, l, 3)
		var held []*semaphore.Permit
		for range 3 {
			held = append(held, <-waiting(t, s))
		}
		must(t, held[0].Release(t.Context()))
		must(t, held[1].Release(t.Context())) // the calls wait for this slot, the one released last
		other := newSemaphore(t, l, 3)        // takes both again, so that s looks at them
		for range 2 {
			<-waiting(t, other)
		}
		first, second := waiting(t, s), waiting(t, s)
		gate := l.holdUp(fmt.Sprint("pool#", held[0].Slot()))
		<-l.stuck // the first call looks
		must(t, held[2].Release(t.Context()))
		l.waits <- struct{}{}
		<-first
		synctest.Wait()
		select {
		case p := <-second:
			if p.Slot() != held[2].Slot() {
				t.Errorf("slot %d", p.Slot())
			}
		default:
			t.Error("the second call is not offered the slot")
		}
		close(gate)
	})
}

// TestNewcomersDoNotOvertake a call of their process that waits, also when a slot is free.
func TestNewcomersDoNotOvertake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newStub("pool#0", "pool#1")
		s := newSemaphore(t, l, 2)
		first := waiting(t, s)
		l.set("pool#0", false)
		l.set("pool#1", false)
		second := waiting(t, s)
		if len(first) != 0 || len(second) != 0 {
			t.Fatalf("%d and %d have a permit before the next look", len(first), len(second))
		}
		time.Sleep(time.Second)
		if len(first) != 1 || len(second) != 0 {
			t.Errorf("%d and %d have a permit", len(first), len(second))
		}
		must(t, (<-first).Release(t.Context()))
		must(t, (<-second).Release(t.Context()))
	})
}
