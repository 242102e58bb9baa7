package conformance

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// testSemaphore: never more than k permits, fences that rise for each slot, free slots that are found, and errors that
// name the holders.
func (s Suite) testSemaphore(t *testing.T) {
	if s.NoSemaphores {
		s.run(t, "is refused", (*subtest).noSemaphores)
		return
	}
	s.run(t, "never more than k", (*subtest).neverMoreThanK)
	s.run(t, "a free slot is found", (*subtest).freeSlotIsFound)
	s.run(t, "all are held", (*subtest).allAreHeld)
	if s.Capabilities.Slots || !s.NoHolders {
		s.run(t, "another k", (*subtest).anotherNumberOfSlots)
	}
	if s.Capabilities.Slots {
		s.run(t, "the nodes know k", (*subtest).nodesKnowSlots)
		s.run(t, "fewer slots", (*subtest).fewerSlots)
	} else {
		s.run(t, "the nodes do not know k", (*subtest).noSlots)
	}
	if s.Capabilities.SlotQueue {
		s.run(t, "first come, first served", (*subtest).servedInOrder)
	}
}

func (c *subtest) noSemaphores() {
	_, err := c.semaphore(c.locker(), 2).Acquire(c.context())
	c.wantErr("Acquire of a permit", err, errors.ErrUnsupported)
}

func (c *subtest) semaphore(l lock.Locker, k int) *semaphore.Semaphore {
	c.Helper()
	s, err := semaphore.New(l, c.resource, k)
	if err != nil {
		c.Fatal(err)
	}
	return s
}

func (c *subtest) permit(s *semaphore.Semaphore) *semaphore.Permit {
	c.Helper()
	p, err := s.Acquire(c.context(), lock.TTL(c.TTL))
	if err != nil {
		c.Fatalf("Acquire of %q: %v", s.Name(), err)
	}
	return p
}

func (c *subtest) giveBack(p *semaphore.Permit) {
	c.Helper()
	if err := p.Release(c.context()); err != nil {
		c.Fatalf("Release of slot %d: %v", p.Slot(), err)
	}
}

// neverMoreThanK lets callers of two processes contend for fewer permits.
func (c *subtest) neverMoreThanK() {
	const k, processes, callers, rounds = 3, 2, 4, 10
	held := permits{k: k}
	var all sync.WaitGroup
	for range processes {
		s := c.semaphore(c.locker(), k)
		for range callers {
			all.Go(func() {
				for range rounds {
					err := s.Do(c.context(), func(_ context.Context, p *semaphore.Permit) error {
						defer held.remove(p)
						return held.add(p, !c.NoFences)
					}, lock.TTL(c.TTL))
					if err != nil {
						c.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
}

// permits are those that are valid.
type permits struct {
	k int

	mu     sync.Mutex
	valid  map[*semaphore.Permit]struct{}
	fences map[int]uint64
}

// add fails if more than k are valid with p, or if its fence does not rise.
func (all *permits) add(p *semaphore.Permit, fenced bool) error {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.valid == nil {
		all.valid, all.fences = make(map[*semaphore.Permit]struct{}), make(map[int]uint64)
	}
	for other := range all.valid {
		if other.Remaining() <= 0 {
			delete(all.valid, other)
		}
	}
	all.valid[p] = struct{}{}
	last := all.fences[p.Slot()]
	all.fences[p.Slot()] = p.Fence()
	switch {
	case len(all.valid) > all.k:
		return errors.New("more permits are valid than there are")
	case fenced && p.Fence() <= last:
		return errors.New("the fences of a slot do not rise")
	}
	return nil
}

func (all *permits) remove(p *semaphore.Permit) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.valid, p)
}

// freeSlotIsFound by a process that waits, whichever slot it is.
func (c *subtest) freeSlotIsFound() {
	const k = 3
	a, b := c.semaphore(c.locker(), k), c.semaphore(c.locker(), k)
	for i := range k {
		var held []*semaphore.Permit
		for range k {
			held = append(held, c.permit(a))
		}
		got := make(chan *semaphore.Permit, 1)
		go func() {
			defer close(got)
			got <- c.permit(b)
		}()
		c.giveBack(held[i])
		p := <-got
		if p == nil {
			return
		}
		if p.Slot() != held[i].Slot() {
			c.Errorf("slot %d is acquired, and slot %d was free", p.Slot(), held[i].Slot())
		}
		held[i] = p
		for _, p := range held {
			c.giveBack(p)
		}
	}
}

func (c *subtest) allAreHeld() {
	const k = 2
	a, b := c.semaphore(c.locker(), k), c.semaphore(c.locker(), k)
	held := []*semaphore.Permit{c.permit(a), c.permit(a)}
	_, err := b.TryAcquire(c.context(), lock.TTL(c.TTL))
	c.wantErr("TryAcquire", err, lock.ErrHeld)
	full, ok := errors.AsType[*lock.FullError](err)
	if !ok || len(full.Held) != k {
		c.Errorf("%v; %d holders expected", err, k)
	}
	_, err = b.Acquire(c.context(), lock.TTL(c.TTL), lock.MaxWait(c.TTL/2))
	c.wantErr("MaxWait", err, lock.ErrMaxWait, lock.ErrHeld)
	for _, p := range held {
		c.giveBack(p)
	}
	c.giveBack(c.permit(b))
}

func (c *subtest) anotherNumberOfSlots() {
	p := c.permit(c.semaphore(c.locker(), 1))
	s := c.semaphore(c.locker(), 2)
	var err error
	for range 2 { // one of the slots is free
		var other *semaphore.Permit
		if other, err = s.TryAcquire(c.context(), lock.TTL(c.TTL)); err == nil {
			defer c.giveBack(other)
		}
	}
	if other, ok := errors.AsType[*lock.SlotsError](err); !ok || other.Slots != 2 || other.Other != 1 {
		c.Errorf("%v; an error with both numbers expected", err)
	}
	c.giveBack(p)
}
