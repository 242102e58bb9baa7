package calls

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestARefusalIsAsOldAsItsAttempt, also if a busy process learns it late: a lease that was granted meanwhile is
// younger.
func TestARefusalIsAsOldAsItsAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRegister(waits.New(time.Minute), timeline.NewSlowest(1), profile.New(0), 32)
		owner := &Owner{Layer: decorate.NewLayer(&locktrace.Trace{}), Records: &r.Records}
		c := &r.Begin(t.Context(), owner, "job").Call
		time.Sleep(time.Second)
		c.AttemptStart(locktrace.AttemptStart{Attempt: 1})
		time.Sleep(time.Second)
		c.AttemptEnd(locktrace.AttemptEnd{Took: time.Millisecond, Err: &lock.HeldError{Nodes: 3, Refused: 3}})
		if c.AsOf != time.Second {
			t.Errorf("of an attempt that began after a second it is %v old", c.AsOf)
		}
	})
}

// unheard is a lease whose context has ended. The goroutine that waits for the end has not run yet.
type unheard struct {
	lock.Lease
	ctx endedContext
}

func (unheard) Resource() string           { return "job" }
func (unheard) Fence() uint64              { return 7 }
func (unheard) Remaining() time.Duration   { return 0 }
func (l unheard) Context() context.Context { return l.ctx }

type endedContext struct{ context.Context }

func (endedContext) Err() error { return context.Canceled }

// TestALeaseThatHasEndedIsNotTold, although it has not left the Board yet.
func TestALeaseThatHasEndedIsNotTold(t *testing.T) {
	r := NewRegister(waits.New(time.Minute), timeline.NewSlowest(1), profile.New(0), 32)
	owner := &Owner{Layer: decorate.NewLayer(&locktrace.Trace{}), Records: &r.Records}
	m := r.Begin(t.Context(), owner, "job").Acquired(unheard{ctx: endedContext{context.Background()}})
	if told, ok := m.Tell(time.Now()); ok {
		t.Errorf("told: %+v", told)
	}
}
