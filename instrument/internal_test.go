package instrument

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

type never struct{ lock.Locker }

// TestNoSpanHooks: what nobody traces must not cost.
func TestNoSpanHooks(t *testing.T) {
	for name, c := range map[string]struct {
		opts  []Option
		spans bool
	}{
		"off":           {[]Option{WithTracerProvider(noop.NewTracerProvider())}, false},
		"no node spans": {[]Option{WithNodeSpans(NodeSpansNone)}, false},
		"default":       {nil, true},
	} {
		l, err := Wrap(never{}, c.opts...)
		if err != nil {
			t.Fatal(err)
		}
		if has := l.newHooks().NodeStart != nil; has != c.spans {
			t.Errorf("%s: NodeStart is installed: %v", name, has)
		}
	}
}

// TestCleanUpIsNotRed: what gives back the rest of a decided acquire fails nobody's call.
func TestCleanUpIsNotRed(t *testing.T) {
	for _, c := range []struct {
		op      lock.Operation
		attempt int
		want    codes.Code
	}{
		{lock.OpAcquire, 1, codes.Error}, {lock.OpRelease, 0, codes.Error}, {lock.OpExtend, 0, codes.Error},
		{lock.OpRelease, 1, codes.Unset}, {lock.OpLeave, 0, codes.Unset},
	} {
		var s status
		describeNode(&s, lock.NodeEnd{NodeStart: lock.NodeStart{Op: c.op, Attempt: c.attempt}, Err: driver.ErrTimeout})
		if s.code != c.want {
			t.Errorf("%s of attempt %d: status %v, want %v", c.op, c.attempt, s.code, c.want)
		}
	}
}

// status is a span that keeps its own.
type status struct {
	noop.Span
	code codes.Code
}

func (s *status) IsRecording() bool                { return true }
func (s *status) SetStatus(c codes.Code, _ string) { s.code = c }

func TestTraceparent(t *testing.T) {
	sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	if got := parseTraceparent(traceparent(sc)); !got.IsValid() || got.TraceID() != sc.TraceID() || got.SpanID() != sc.SpanID() || !got.IsSampled() {
		t.Errorf("%v came back as %v", sc, got)
	}
	for _, s := range []string{"", "x", "00-00-00-00", strings.Repeat("f", 55), "00-" + strings.Repeat("0", 32) + "-" + strings.Repeat("1", 16) + "-01"} {
		if sc := parseTraceparent(s); sc.IsValid() {
			t.Errorf("%q is read as %v", s, sc)
		}
	}
}

// TestVotes counts late votes, and forgets those of earlier attempts.
func TestVotes(t *testing.T) {
	l, err := Wrap(never{})
	if err != nil {
		t.Fatal(err)
	}
	c := &call{owner: l}
	c.start(lock.AcquireStart{Nodes: 5, Quorum: 3})
	ch := make(chan float64, 1)
	l.metrics.margin = recorder{l.metrics.margin, ch}
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
	m := newMetrics(shared{maxResources: 1})
	n := m.node(lock.Backend{}, "a")
	seen := make(chan float64, 10)
	n.op(lock.OpAcquire).duration = recorder{prometheus.NewHistogram(prometheus.HistogramOpts{}), seen}
	timeout := fmt.Errorf("%w (%w)", driver.ErrTimeout, &net.OpError{Op: "read", Err: os.ErrDeadlineExceeded})
	for _, c := range []struct {
		err      error
		reason   failure
		observed bool
	}{
		{nil, failures, true},
		{errors.New("ERR"), failOther, true},
		{timeout, failTimeout, true},
		{fmt.Errorf("%w (%w)", driver.ErrTimeout, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}), failDial, false},
		{&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, failDial, false},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, failRefused, false},
		{&net.OpError{Op: "dial", Err: context.Canceled}, failCanceled, false},
		{driver.ErrNotSent, failBusy, false},
		{fmt.Errorf("%w: %w", driver.ErrNotSent, context.Canceled), failCanceled, false},
		{fmt.Errorf("%w (%v)", driver.ErrUnheard, timeout), failCanceled, false},
		{driver.ErrQuarantined, failGuard, false},
		{context.Canceled, failCanceled, false},
	} {
		n.done(lock.NodeEnd{NodeStart: lock.NodeStart{Node: "a", Op: lock.OpAcquire}, Took: time.Millisecond, Err: c.err})
		if got := len(seen) == 1; got != c.observed {
			t.Errorf("%v: observed: %v", c.err, got)
		}
		if c.err != nil && failureOf(c.err) != c.reason {
			t.Errorf("%v is %v, want %v", c.err, failureOf(c.err), c.reason)
		}
		for len(seen) > 0 {
			<-seen
		}
	}
}

// TestNodesThatMayNotVote are counted, shown and described as such.
func TestNodesThatMayNotVote(t *testing.T) {
	for _, err := range []error{
		driver.ErrQuarantined, driver.ErrDuplicate, driver.ErrReplica, driver.ErrEvicting, driver.ErrUnexamined, driver.ErrFenceCounter,
	} {
		wrapped := fmt.Errorf("%w: %q", err, "lockscope:fence:{7}")
		if failureOf(wrapped) != failGuard || describe(wrapped) != err.Error() {
			t.Errorf("%v is counted as %v and described as %q", wrapped, failureOf(wrapped), describe(wrapped))
		}
	}
}

// TestRestartsThatAreOver: whoever notices late has nothing to fear.
func TestRestartsThatAreOver(t *testing.T) {
	var b bytes.Buffer
	l, err := Wrap(never{}, WithLogger(slog.New(slog.NewTextHandler(&b, nil))))
	if err != nil {
		t.Fatal(err)
	}
	l.newHooks().NodeRestart(t.Context(), lock.NodeRestart{Node: "a", Witnessed: true})
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `level=WARN msg="node restarted and votes: no lock from before can be held" node=a left=0s enforced=false`) {
		t.Error(b.String())
	}
}
