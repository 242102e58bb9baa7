package callqueue

import (
	"testing"
)

// recordedCall is a call that the test answers.
type recordedCall struct {
	name    string
	started *[]string
	queue   *Queue
	atOnce  bool // answered before Start returns
}

func (c *recordedCall) Start(Waiter) {
	*c.started = append(*c.started, c.name)
	if c.atOnce {
		c.queue.Next()
	}
}

func TestCallsStartInOrderAndOneAtATime(t *testing.T) {
	q := new(Queue)
	var started []string
	for _, c := range []*recordedCall{{name: "a"}, {name: "b", atOnce: true}, {name: "c", atOnce: true}, {name: "d"}} {
		c.started, c.queue = &started, q
		q.Do(c)
	}
	if len(started) != 1 || !q.IsBusy() {
		t.Fatalf("%q have started while the first was under way", started)
	}
	q.Next()
	if got := len(started); got != 4 || started[1] != "b" || started[2] != "c" || started[3] != "d" {
		t.Fatalf("started %q", started)
	}
	q.Next()
	if q.IsBusy() {
		t.Error("an empty queue is busy")
	}
}
