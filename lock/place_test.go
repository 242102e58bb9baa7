package lock

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

type manualClock struct{ now time.Duration }

func (c *manualClock) read() time.Duration { return c.now }

func newTestPlaces() (*places, *manualClock) {
	clock := &manualClock{}
	return newPlaces(2, clock.read), clock
}

func TestTurnsAreFirstComeFirstServed(t *testing.T) {
	p, _ := newTestPlaces()
	at := p.enter("lock:a")
	if p.takeTurn(at) != nil {
		t.Fatal("the first had to wait")
	}
	second, third, fourth := p.takeTurn(at), p.takeTurn(at), p.takeTurn(at)
	if got := p.ahead(at, third); got != 2 {
		t.Errorf("%d ahead of the third, want 2", got)
	}
	p.giveUpTurn(at, third)
	p.passTurn(at)
	if !closed(second) || closed(third) || closed(fourth) {
		t.Fatal("the turn did not go to the second")
	}
	// The fourth gives up in the instant its turn comes: nobody may wait for ever.
	p.passTurn(at)
	p.giveUpTurn(at, fourth)
	if p.takeTurn(at) != nil {
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

func TestAPlaceIsKeptUntilItsLinesAreEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := newTestPlaces()
		g := newGroup()
		at := p.enter("lock:a")
		answer := make(chan struct{})
		at.lines[1].do(g, func() { <-answer })
		p.leave(at)
		synctest.Wait()
		if p.enter("lock:a") != at {
			t.Error("a newcomer does not queue behind the call under way")
		}
		p.leave(at)
		close(answer)
		synctest.Wait()
		if n := len(p.byKey); n != 0 {
			t.Errorf("%d places are left", n)
		}
		g.close()
	})
}

func TestBeingNamedOutweighsOtherHints(t *testing.T) {
	p, _ := newTestPlaces()
	at := p.enter("lock:a")
	if p.wakeUp("lock:a") {
		t.Error("nobody contends, and somebody was named")
	}
	p.takeTurn(at)
	p.wakeUp("")
	if !p.wakeUp("lock:a") || p.wakeUp("lock:b") {
		t.Error("who contends is not known")
	}
	p.wakeUp("")
	if w := <-at.wake; !w.named {
		t.Error("the name was lost")
	}
	if len(at.wake) != 0 {
		t.Error("hints pile up")
	}
}

func TestContentionIsForgotten(t *testing.T) {
	p, clock := newTestPlaces()
	p.markContended("lock:a", time.Second)
	if !p.isContended("lock:a") || p.isContended("lock:b") {
		t.Error("what is contended is not known")
	}
	clock.now = 2 * time.Second
	if p.isContended("lock:a") || len(p.contended) != 0 {
		t.Error("it is remembered for too long")
	}
	for i := range 3 * maxContended {
		p.markContended(fmt.Sprint(i), time.Second)
	}
	if len(p.contended) > maxContended {
		t.Errorf("%d keys are remembered", len(p.contended))
	}
}
