package engine

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
)

func TestTurnsAreFirstComeFirstServed(t *testing.T) {
	all := newQueues(2)
	q, opts := all.enter("lock:a"), lock.NewAcquireOptions()
	if q.takeTurn(&opts, nil) != nil {
		t.Fatal("the first had to wait")
	}
	second, third, fourth := q.takeTurn(&opts, nil), q.takeTurn(&opts, nil), q.takeTurn(&opts, nil)
	if got := q.ahead(third); got != 2 {
		t.Errorf("%d ahead of the third, want 2", got)
	}
	q.giveUpTurn(third)
	q.passTurn()
	if !closed(second.come) || closed(third.come) || closed(fourth.come) {
		t.Fatal("the turn did not go to the second")
	}
	// The fourth caller gives up in the instant its turn comes. Nobody may wait forever.
	q.passTurn()
	q.giveUpTurn(fourth)
	if q.takeTurn(&opts, nil) != nil {
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
	all := newQueues(2)
	q := all.enter("lock:a")
	q.On[1].Do(unanswered{})
	q.leave()
	if all.enter("lock:a") != q {
		t.Error("a newcomer does not queue behind the call under way")
	}
	q.leave()
	q.On[1].Next()
	if n := len(all.byKey); n != 0 {
		t.Errorf("%d queues are left", n)
	}
}

func TestBeingNamedOutweighsOtherHints(t *testing.T) {
	all := newQueues(2)
	q := all.enter("lock:a")
	if all.wakeUp("lock:a") {
		t.Error("nobody contends, and somebody was named")
	}
	q.takeTurn(new(lock.AcquireOptions), nil)
	all.wakeUp("")
	if !all.wakeUp("lock:a") || all.wakeUp("lock:b") {
		t.Error("who contends is not known")
	}
	all.wakeUp("")
	if w := <-q.wake; !w.named {
		t.Error("the name was lost")
	}
	if len(q.wake) != 0 {
		t.Error("hints pile up")
	}
}
