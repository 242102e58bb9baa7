package queue

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
)

func TestTurnsAreFirstComeFirstServed(t *testing.T) {
	all := NewQueues(2)
	q, opts := all.Enter("lock:a"), lock.NewAcquireOptions()
	if q.TakeTurn(&opts, nil) != nil {
		t.Fatal("the first had to wait")
	}
	second, third, fourth := q.TakeTurn(&opts, nil), q.TakeTurn(&opts, nil), q.TakeTurn(&opts, nil)
	if got := q.Ahead(third); got != 2 {
		t.Errorf("%d ahead of the third, want 2", got)
	}
	q.GiveUpTurn(third)
	q.PassTurn()
	if !closed(second.Come) || closed(third.Come) || closed(fourth.Come) {
		t.Fatal("the turn did not go to the second")
	}
	// The fourth caller gives up in the instant its turn comes. Nobody may wait forever.
	q.PassTurn()
	q.GiveUpTurn(fourth)
	if q.TakeTurn(&opts, nil) != nil {
		t.Error("a turn that was given up is still taken")
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// unanswered is a call that the test answers.
type unanswered struct{}

func (unanswered) Start(callqueue.Waiter) {}

func TestAQueueIsKeptUntilItsCallsAreDone(t *testing.T) {
	all := NewQueues(2)
	q := all.Enter("lock:a")
	q.On[1].Do(unanswered{})
	q.Leave()
	if all.Enter("lock:a") != q {
		t.Error("a newcomer does not queue behind the call under way")
	}
	q.Leave()
	q.On[1].Next()
	if n := len(all.byKey); n != 0 {
		t.Errorf("%d queues are left", n)
	}
}

func TestBeingNamedOutweighsOtherHints(t *testing.T) {
	all := NewQueues(2)
	q := all.Enter("lock:a")
	if all.WakeUp("lock:a") {
		t.Error("nobody contends, and somebody was named")
	}
	q.TakeTurn(new(lock.AcquireOptions), nil)
	all.WakeUp("")
	if !all.WakeUp("lock:a") || all.WakeUp("lock:b") {
		t.Error("who contends is not known")
	}
	all.WakeUp("")
	if w := <-q.Wake; !w.Named {
		t.Error("the name was lost")
	}
	if len(q.Wake) != 0 {
		t.Error("hints pile up")
	}
}

// TestANameForASlotHeldHere: the message with a name that the caller knew of before is dropped once, when it has its
// lease. Any other one, for a slot that a lease of this process has, wakes the caller that contends: the gate, which does
// not know of the lease, has taken it out of the queue.
func TestANameForASlotHeldHere(t *testing.T) {
	const key, slotKey, slot = "lock:pool#*", "lock:pool#1", 1
	all := NewQueues(3)
	of := &driver.Semaphore{Key: "lock:pool", Slot: slot, Slots: 2, OneQueue: true}
	line, held, opts := all.Enter(key), all.Enter(slotKey), lock.NewAcquireOptions()
	line.TakeTurn(&opts, nil)
	named := func() bool {
		select {
		case w := <-line.Wake:
			return w == WakeUp{Named: true, Slot: slot + 1}
		default:
			return false
		}
	}
	line.First.Store(true)
	held.ReleasedSlot(of)
	if !named() {
		t.Fatal("the first caller did not go on with the release")
	}
	held.Leases.Add(1) // its own, and another caller contends
	if !all.WakeUpForSlot(key, slotKey, slot) || named() {
		t.Error("the message came too late, and woke the next caller")
	}
	if !all.WakeUpForSlot(key, slotKey, slot) || !named() {
		t.Error("another name was dropped")
	}
	for why, then := range map[string]func(){
		"of one that never came":         func() { held.ReleasedSlot(of) }, // nobody is first any more
		"of one that the gate gave away": held.NotNamed,
	} {
		line.First.Store(true)
		held.ReleasedSlot(of)
		then()
		named()
		if !all.WakeUpForSlot(key, slotKey, slot) || !named() {
			t.Errorf("a name was dropped in place %s", why)
		}
	}
}
