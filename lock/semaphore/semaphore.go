package semaphore

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// MaxSlots is how many slots a semaphore may have.
const MaxSlots = records.MaxSlots

// Semaphore is a number of permits that processes share. Its methods are safe for concurrent use. Make it with [New]:
// Acquire of the zero value fails with lock.ErrInvalidOption.
type Semaphore struct {
	locker lock.Locker
	name   string
	slots  []string      // the resource of each slot
	every  time.Duration // between two looks at all slots
	queue  bool          // the nodes have one queue for all slots: see waitForAny

	mu       sync.Mutex
	here     []*Permit // by slot: the permit of this Semaphore that holds it, or tries to
	near     int       // slot to ask first: the last one released here
	line     []*waiter // calls that wait, first come first served; empty if the nodes have one queue
	queued   int       // calls that wait in that queue
	waitsOn  int       // slot in whose queue they all wait
	looked   time.Time // when the last look at all slots began
	released int       // how often a permit was released
}

// New returns the semaphore of that name with k slots. It sends nothing. Make one for each name in a process, and keep
// it: calls of one Semaphore wait in order, and slots that it holds itself are not asked.
//
// New fails with lock.ErrInvalidOption if locker is nil or k is not in 1 to [MaxSlots], and with
// lock.ErrInvalidResource if a slot cannot have a name: name, "#" and the number of the slot.
func New(locker lock.Locker, name string, k int) (*Semaphore, error) {
	if locker == nil {
		return nil, fmt.Errorf("%w: semaphore %q: the Locker must not be nil", lock.ErrInvalidOption, name)
	}
	if err := validate(name, k); err != nil {
		return nil, err
	}
	s := &Semaphore{
		locker: locker, name: name, every: lookEvery(k), here: make([]*Permit, k), near: rand.IntN(k),
		queue: lock.QueuesSlots(locker) == nil,
	}
	for slot := range k {
		s.slots = append(s.slots, records.SlotName(name, slot))
	}
	return s, nil
}

// validate refuses what no semaphore can have.
func validate(name string, k int) error {
	if k < 1 || k > MaxSlots {
		return fmt.Errorf("%w: semaphore %q: %d slots: use 1 to %d", lock.ErrInvalidOption, name, k, MaxSlots)
	}
	if err := lock.ValidateResource(name); err != nil {
		return fmt.Errorf("semaphore %q: %w", name, err)
	}
	if err := lock.ValidateResource(records.SlotName(name, k-1)); err != nil {
		return fmt.Errorf("semaphore: slot %d: %w", k-1, err)
	}
	return nil
}

// lookEvery bounds the load on the nodes: a process asks for at most 50 slots a second beside the queue.
func lookEvery(k int) time.Duration {
	return max(200*time.Millisecond, time.Duration(k)*20*time.Millisecond)
}

// Name returns the name of the semaphore.
func (s *Semaphore) Name() string { return s.name }

// Slots returns the number of slots.
func (s *Semaphore) Slots() int { return len(s.slots) }

// begin says where a call should begin, and whether it may try the slots at once: nobody waits here.
func (s *Semaphore) begin() (released int, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.released, len(s.line) == 0 && s.queued == 0
}

// take notes that p tries its slot, unless another permit of this Semaphore has it.
func (s *Semaphore) take(p *Permit) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here[p.slot] != nil {
		return false
	}
	s.here[p.slot] = p
	return true
}

// hold notes that p has its slot, whatever was known before.
func (s *Semaphore) hold(p *Permit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here[p.slot] = p
}

// drop notes that p does not have its slot, or no longer.
func (s *Semaphore) drop(p *Permit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here[p.slot] == p {
		s.here[p.slot] = nil
	}
}

// giveBack notes that p was released, and offers the slot to a call that waits here.
func (s *Semaphore) giveBack(p *Permit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released++
	s.near = p.slot
	if s.here[p.slot] == p {
		s.here[p.slot] = nil
	}
	s.offer(p.slot)
}

// held is how many slots this Semaphore holds or tries.
func (s *Semaphore) held() (n int) {
	for slot := range s.slots {
		n += s.heldAt(slot)
	}
	return n
}

// heldAt is 1 if this Semaphore holds or tries the slot, else 0.
func (s *Semaphore) heldAt(slot int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here[slot] != nil {
		return 1
	}
	return 0
}
