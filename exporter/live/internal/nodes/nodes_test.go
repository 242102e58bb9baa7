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
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestReplies distinguishes answers, silence, and calls that prove neither, of a node that was not asked before.
func TestReplies(t *testing.T) {
	canceled := fmt.Errorf("%w: decided", context.Canceled)
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	now := time.Unix(1e9, 0)
	for i, c := range []struct {
		err                 error
		state               string
		calls, failed, took int
	}{
		{nil, state.NodeUp, 1, 0, 1},
		{canceled, state.NodeUnknown, 1, 0, 0},
		{fmt.Errorf("%w (%v)", driver.ErrUnheard, driver.ErrTimeout), state.NodeUnknown, 1, 0, 0},
		{fmt.Errorf("%w: nothing was sent", driver.ErrNotSent), state.NodeUnknown, 0, 0, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, refused), state.NodeDown, 0, 0, 0}, // there is no connection
		{refused, state.NodeDown, 1, 1, 0},                                          // not the duration of a command
		{io.ErrUnexpectedEOF, state.NodeDown, 1, 1, 1},
		{driver.ErrTimeout, state.NodeDown, 1, 1, 1},
		{driver.ErrQuarantined, state.NodeQuarantined, 1, 1, 0},
		{fmt.Errorf("%w: it is 7.5", driver.ErrFenceCounter), state.NodeBarred, 1, 1, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrReplica), state.NodeBarred, 0, 0, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrTimeout), state.NodeDown, 0, 0, 0},
		{errors.New("OOM command not allowed"), state.NodeBarred, 1, 1, 1},
	} {
		n := node{name: nodeName{node: "a"}}
		n.done(now, locktrace.NodeEnd{Took: time.Millisecond, Err: c.err})
		h := n.health(now)
		took := 0
		if h.P50 > 0 {
			took = 1
		}
		known := c.state != state.NodeUp && c.state != state.NodeUnknown
		if h.State != c.state || h.Up != (c.state == state.NodeUp) || h.Calls != c.calls || h.Failures != c.failed ||
			took != c.took || (h.Error != "") != known || strings.Contains(h.Error, "not asked") ||
			h.Failing != (c.failed > 0) || (h.NotAsked > 0) != (c.calls == 0 && known) {
			t.Errorf("%d: %v makes %+v, want %+v", i, c.err, h, c)
		}
	}
}

// TestManyNodes: a bound holds, whatever names a Locker gives its nodes.
func TestManyNodes(t *testing.T) {
	var n Nodes
	var set Set
	for i := range 1000 {
		set.Note(n.Done(time.Now(), locktrace.NodeEnd{NodeStart: locktrace.NodeStart{Node: fmt.Sprint(i)}}), lock.VerdictGranted)
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
	n.done(began, locktrace.NodeEnd{Took: time.Millisecond})
	n.done(began.Add(time.Second), locktrace.NodeEnd{Err: driver.ErrTimeout})
	n.done(began.Add(2*time.Second), locktrace.NodeEnd{Took: time.Millisecond})
	for range 96 {
		n.done(began.Add(2*time.Second), locktrace.NodeEnd{Took: time.Millisecond})
	}
	h := n.health(began.Add(10 * time.Second))
	if h.Calls != 99 || h.Failures != 1 || !h.Failing || *h.ErrorAge != 9 || *h.Since != 10 || h.State != state.NodeUp {
		t.Errorf("one of 99 commands failed nine seconds ago: %+v, error %v s, state %v s ago", h, *h.ErrorAge, *h.Since)
	}
	n.done(began.Add(10*time.Second), locktrace.NodeEnd{Took: time.Millisecond})
	if h := n.health(began.Add(10 * time.Second)); h.Failing || h.Failures != 1 {
		t.Errorf("one of 100 commands failed: %+v", h)
	}
}
