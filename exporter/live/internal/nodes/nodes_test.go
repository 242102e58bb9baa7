package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// TestReplies distinguishes answers, silence, and calls that prove neither.
func TestReplies(t *testing.T) {
	canceled := fmt.Errorf("%w: decided", context.Canceled)
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	now := time.Unix(1e9, 0)
	for i, c := range []struct {
		err                 error
		up                  bool
		calls, failed, took int
	}{
		{nil, true, 1, 0, 1},
		{canceled, true, 1, 0, 0}, // still up
		{fmt.Errorf("%w (%v)", driver.ErrUnheard, driver.ErrTimeout), true, 1, 0, 0},
		{fmt.Errorf("%w: nothing was sent", driver.ErrNotSent), true, 0, 0, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, refused), false, 0, 0, 0}, // it could not be sent: there is no connection
		{refused, false, 1, 1, 0}, // not the duration of a command
		{io.ErrUnexpectedEOF, false, 1, 1, 1},
		{driver.ErrTimeout, false, 1, 1, 1},
		{driver.ErrQuarantined, false, 1, 1, 0}, // it answers, and may not vote
		{fmt.Errorf("%w: it is 7.5", driver.ErrFenceCounter), false, 1, 1, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrReplica), false, 0, 0, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrTimeout), false, 0, 0, 0},
		{errors.New("ERR out of order"), true, 1, 1, 1},
	} {
		n := node{name: nodeName{node: "a"}, state: state.NodeUp}
		n.done(now, lock.NodeEnd{Took: time.Millisecond, Err: c.err})
		h := n.health(now)
		took := 0
		if h.P50 > 0 {
			took = 1
		}
		if h.Up != c.up || h.Calls != c.calls || h.Failures != c.failed || took != c.took ||
			(h.Error != "") != (c.failed > 0 || !c.up) || strings.Contains(h.Error, "not asked") ||
			h.Failing != (c.failed > 0) || (h.NotAsked > 0) != (c.calls == 0 && !c.up) {
			t.Errorf("%d: %v makes %+v, want %+v", i, c.err, h, c)
		}
	}
}

// TestManyNodes: a bound holds, whatever names a Locker gives its nodes.
func TestManyNodes(t *testing.T) {
	var n Nodes
	var set Set
	for i := range 1000 {
		set.Note(n.Done(time.Now(), lock.NodeEnd{NodeStart: lock.NodeStart{Node: fmt.Sprint(i)}}), lock.VerdictGranted)
	}
	if len(n.Health(time.Now())) != maxNodes || set.Len() != maxNodes {
		t.Errorf("%d nodes, %d of them in a set", len(n.all), set.Len())
	}
	set.Note(0, lock.VerdictRefused)
	set.Note(1, lock.VerdictFailed)
	if set.Len() != maxNodes-1 {
		t.Errorf("%d nodes after one refused", set.Len())
	}
}

// TestFailingIsAShare: a node that failed a few of many commands is well; one in a hundred is the limit.
// The ages of the last error and of the state are told.
func TestFailingIsAShare(t *testing.T) {
	began := time.Unix(1e9, 0)
	n := node{name: nodeName{node: "a"}}
	n.done(began, lock.NodeEnd{Took: time.Millisecond})
	n.done(began.Add(time.Second), lock.NodeEnd{Err: driver.ErrTimeout})
	n.done(began.Add(2*time.Second), lock.NodeEnd{Took: time.Millisecond})
	for range 96 {
		n.done(began.Add(2*time.Second), lock.NodeEnd{Took: time.Millisecond})
	}
	h := n.health(began.Add(10 * time.Second))
	if h.Calls != 99 || h.Failures != 1 || !h.Failing || *h.ErrorAge != 9 || *h.Since != 8 || h.State != state.NodeUp {
		t.Errorf("one of 99 commands failed nine seconds ago: %+v, error %v s, state %v s ago", h, *h.ErrorAge, *h.Since)
	}
	n.done(began.Add(10*time.Second), lock.NodeEnd{Took: time.Millisecond})
	if h := n.health(began.Add(10 * time.Second)); h.Failing || h.Failures != 1 {
		t.Errorf("one of 100 commands failed: %+v", h)
	}
}
