package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestVotes counts late votes, and drops those of earlier attempts.
func TestVotes(t *testing.T) {
	ch := make(chan float64, 1)
	c := &Call{series: &series{margin: recorder{seen: ch}}}
	c.Start(locktrace.AcquireStart{Nodes: 5, Quorum: 3})
	for _, v := range []struct {
		attempt int
		granted bool
	}{{1, true}, {1, false}, {2, true}, {1, true}, {2, true}, {2, true}, {2, false}, {2, true}} {
		if len(ch) != 0 {
			t.Fatal("observed too early")
		}
		c.vote(v.attempt, v.granted)
	}
	if got := <-ch; got != 1 {
		t.Errorf("margin %v, want 1", got)
	}
}

type recorder struct {
	prometheus.Histogram
	seen chan float64
}

func (r recorder) Observe(v float64) { r.seen <- v }

// TestDurationsAreOfCommandsThatWereSent: a node that cannot be dialled must not look fast.
func TestDurationsAreOfCommandsThatWereSent(t *testing.T) {
	n := New(Settings{MaxResources: 1}).nodes.node(locktrace.Backend{}, "a")
	seen := make(chan float64, 10)
	n.op(lock.OpAcquire).duration = recorder{prometheus.NewHistogram(prometheus.HistogramOpts{}), seen}
	timeout := fmt.Errorf("%w (%w)", driver.ErrTimeout, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded})
	for _, c := range []struct {
		err      error
		reason   outcome.Failure
		observed bool
	}{
		{nil, outcome.Failures, true},
		{errors.New("ERR"), outcome.NodeOther, true},
		{timeout, outcome.NodeTimeout, true},
		{fmt.Errorf("%w (%w)", driver.ErrTimeout, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}),
			outcome.NodeDial, false},
		{&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, outcome.NodeDial, false},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, outcome.NodeRefused, false},
		{&net.OpError{Op: "dial", Err: context.Canceled}, outcome.NodeCanceled, false},
		{driver.ErrNotSent, outcome.NodeBusy, false},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, context.Canceled), outcome.NodeCanceled, false},
		{fmt.Errorf("%w (%v)", driver.ErrUnheard, timeout), outcome.NodeCanceled, false},
		{driver.ErrQuarantined, outcome.NodeGuard, false},
		{context.Canceled, outcome.NodeCanceled, false},
	} {
		n.done(locktrace.NodeEnd{NodeStart: locktrace.NodeStart{Node: "a", Op: lock.OpAcquire}, Took: time.Millisecond,
			Err: c.err}, nil)
		if got := len(seen) == 1; got != c.observed {
			t.Errorf("%v: observed: %v", c.err, got)
		}
		if c.err != nil && outcome.OfNode(c.err) != c.reason {
			t.Errorf("%v is %v, want %v", c.err, outcome.OfNode(c.err), c.reason)
		}
		for len(seen) > 0 {
			<-seen
		}
	}
}
