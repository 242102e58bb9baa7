package traceevent_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/internal/traceevent/validate"
)

// drawn has one of everything.
func drawn() *traceevent.Trace {
	t := new(traceevent.Trace)
	holder, waiter := t.Process("orders/1", "here"), t.Process("stock \"2\" </script>\x00", "")
	held := holder.Thread("holds", 0)
	lanes := traceevent.NewLanes(func(int) *traceevent.Thread { return waiter.Thread("caller", 1) })
	const base = 5 * time.Second
	held.Slice(traceevent.Slice{Name: "holds", Cat: "lease", Start: base, End: base + 1500*time.Microsecond,
		Color: traceevent.ColorLost, Args: traceevent.Args{"fence": uint64(1) << 60}})
	held.Instant(traceevent.Instant{Name: "renewed", At: base + 700*time.Microsecond})
	first := lanes.Take(base, base+2*time.Millisecond)
	second := lanes.Take(base+time.Millisecond, base+3*time.Millisecond)
	first.Slice(traceevent.Slice{Name: "acquire", Start: base, End: base + 2*time.Millisecond})
	first.Slice(traceevent.Slice{Name: "wait", Start: base + 1, End: base + 1500*time.Microsecond})
	second.Slice(traceevent.Slice{Name: "acquire", Start: base + time.Millisecond, End: base + 3*time.Millisecond})
	t.Flow("let in", "hand-over", nil, traceevent.Point{Thread: held, At: base + 1500*time.Microsecond - 1},
		traceevent.Point{Thread: first, At: base + 1500*time.Microsecond - 1},
		traceevent.Point{Thread: second, At: base + 1500*time.Microsecond})
	return t
}

func TestATraceIsValid(t *testing.T) {
	var out bytes.Buffer
	trace := drawn()
	if err := trace.Write(t.Context(), &out, map[string]string{"program": "lockscope"}); err != nil {
		t.Fatal(err)
	}
	file, errs := validate.Read(out.Bytes())
	for _, err := range errs {
		t.Error(err)
	}
	if trace.Start() != 5*time.Second || file.OtherData["program"] != "lockscope" {
		t.Errorf("start %v, other data %v", trace.Start(), file.OtherData)
	}
	tids := make(map[int]bool)
	for _, e := range file.Events {
		switch e.Name {
		case "wait":
			if e.At != 1 || e.Took != 1500*1000-1 {
				t.Errorf("the wait is at %d for %d ns", e.At, e.Took)
			}
		case "acquire":
			tids[e.Tid] = true
		}
	}
	if len(tids) != 2 {
		t.Errorf("two calls that overlap are on %d threads", len(tids))
	}
	if !strings.Contains(out.String(), `"dur":1500,`) || !strings.Contains(out.String(), `"ts":0.001,`) {
		t.Errorf("times are not in microseconds: %s", out.String())
	}
}

func TestWriteStops(t *testing.T) {
	gone := errors.New("the client has left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if err := drawn().Write(ctx, new(bytes.Buffer), nil); !errors.Is(err, gone) {
		t.Errorf("after the end of the context: %v", err)
	}
	if err := drawn().Write(t.Context(), broken{gone}, nil); !errors.Is(err, gone) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

// TestLanesAreUsedAgain: a thread is free as soon as its slice has ended.
func TestLanesAreUsedAgain(t *testing.T) {
	p := new(traceevent.Trace).Process("p", "")
	opened := 0
	lanes := traceevent.NewLanes(func(n int) *traceevent.Thread { opened = n; return p.Thread("caller", 0) })
	first := lanes.Take(0, 10)
	if lanes.Take(5, 7) == first || lanes.Take(10, 20) != first || opened != 2 {
		t.Errorf("%d threads", opened)
	}
}
