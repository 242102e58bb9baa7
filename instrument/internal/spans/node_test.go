package spans

import (
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestCleanUpIsNotRed: undoing the rest of a decided acquire fails no call.
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
		describeNode(&s, locktrace.NodeEnd{NodeStart: locktrace.NodeStart{Op: c.op, Attempt: c.attempt}, Err: driver.ErrTimeout})
		if s.code != c.want {
			t.Errorf("%s of attempt %d: status %v, want %v", c.op, c.attempt, s.code, c.want)
		}
	}
}

// status is a span that records its own status.
type status struct {
	noop.Span
	code codes.Code
}

func (s *status) IsRecording() bool                { return true }
func (s *status) SetStatus(c codes.Code, _ string) { s.code = c }
