package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
		{fmt.Errorf("%w: %w", driver.ErrNotSent, refused), false, 1, 1, 0}, // it could not be sent: there is no connection
		{refused, false, 1, 1, 0}, // not the duration of a command
		{io.ErrUnexpectedEOF, false, 1, 1, 1},
		{driver.ErrTimeout, false, 1, 1, 1},
		{driver.ErrQuarantined, false, 1, 1, 0}, // it answers, and may not vote
		{fmt.Errorf("%w: it is 7.5", driver.ErrFenceCounter), false, 1, 1, 0},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrReplica), false, 1, 1, 0},
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
			(h.Error != "") != (c.failed > 0) {
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
