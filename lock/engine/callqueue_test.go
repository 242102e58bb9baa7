package engine

import (
	"testing"
)

// recordedCall is a call that is answered when the test says so.
type recordedCall struct {
	name    string
	started *[]string
	queue   *callQueue
	atOnce  bool // the answer comes before start returns
}

func (c *recordedCall) start(waiter) {
	*c.started = append(*c.started, c.name)
	if c.atOnce {
		c.queue.next()
	}
}

func TestCallsStartInOrderAndOneAtATime(t *testing.T) {
	q := new(callQueue)
	var started []string
	for _, c := range []*recordedCall{{name: "a"}, {name: "b", atOnce: true}, {name: "c", atOnce: true}, {name: "d"}} {
		c.started, c.queue = &started, q
		q.do(c)
	}
	if len(started) != 1 || !q.isBusy() {
		t.Fatalf("%q have started while the first was under way", started)
	}
	q.next()
	if got := len(started); got != 4 || started[1] != "b" || started[2] != "c" || started[3] != "d" {
		t.Fatalf("started %q", started)
	}
	q.next()
	if q.isBusy() {
		t.Error("an empty queue is busy")
	}
}
