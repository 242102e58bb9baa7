package live

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/lockscope/lockscope/exporter/internal/traceevent"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
)

// Bounds of a trace.
const (
	// maxTraceEvents is shared by the resources of a trace.
	maxTraceEvents = 50_000
	// maxTraceCalls is how many unfinished calls of a resource are drawn, those that have waited longest.
	maxTraceCalls = 100
	// callsForEvents is how many events make room for an unfinished call.
	callsForEvents = 50
)

// Recorded is a resource with a timeline.
type Recorded struct {
	Resource string `json:"resource"`
	Backend  string `json:"backend,omitempty"`
}

// NotRecordedError means that no resource of that name has a timeline.
type NotRecordedError struct {
	Resource, Backend string     // as asked for
	Recorded          []Recorded // which have one, those waited for last first; at most 20
	More              int        // how many others do
	Limit             int        // how many can; see WithTimelines
}

func (e *NotRecordedError) Error() string {
	what := "no resource has a timeline yet"
	switch {
	case e.Limit == 0:
		return "timelines are switched off (live.WithTimelines)"
	case e.Resource != "":
		what = fmt.Sprintf("resource %q has no timeline", text.Resource(e.Resource))
		if e.Backend != "" {
			what += fmt.Sprintf(" on backend %q", text.Name(e.Backend))
		}
	case e.Backend != "":
		what = fmt.Sprintf("no resource on backend %q has a timeline", text.Name(e.Backend))
	}
	return fmt.Sprintf("%s: a resource is recorded from its first wait in this process until %d minutes after the last "+
		"wait, at most %d resources at a time", what, int(timeline.For.Minutes()), e.Limit)
}

// WriteTrace writes what happened to contended resources in the last ten minutes, in the Trace Event Format that
// Perfetto and chrome://tracing open. A resource and a backend choose; "" means all. A resource of that name on several
// backends is written once for each.
//
// It writes nothing and returns a [NotRecordedError] if nothing is recorded: see [WithTimelines]. Otherwise it returns
// the error of w, or of ctx if that ends first. It holds no lock while it writes. Concurrent calls are safe.
func (b *Board) WriteTrace(ctx context.Context, w io.Writer, resource, backend string) error {
	now := time.Now()
	chosen, err := b.timelines(now, resource, backend)
	if err != nil {
		return err
	}
	t, other := new(traceevent.Trace), make(map[string]string)
	events, calls := uint64(0), 0 // that the limits leave out
	for _, of := range chosen {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, c := b.draw(t, of, now, len(chosen))
		events, calls = events+e, calls+c
	}
	other["program"], other["instance"] = "lockscope", b.cfg.instance
	other["written_at"] = now.UTC().Format(time.RFC3339Nano)
	other["starts_at"] = b.calls.Timeline.Base().Add(t.Start()).UTC().Format(time.RFC3339Nano)
	if events > 0 {
		other["events_omitted"] = fmt.Sprint(events)
	}
	if calls > 0 {
		other["unfinished_calls_omitted"] = fmt.Sprint(calls)
	}
	return t.Write(ctx, w, other)
}

// draw adds one of several resources to the trace, and counts what is left out.
func (b *Board) draw(t *traceevent.Trace, of text.ID, now time.Time, several int) (events uint64, calls int) {
	track := b.calls.Timeline.Find(of, now)
	if track == nil {
		return 0, 0
	}
	room, after := maxTraceEvents/several, now.Add(-timeline.For)
	ended, events := track.Copy(after, room)
	open, calls := b.calls.TimelineNow(track, of, now, min(maxTraceCalls, max(room/callsForEvents, 1)))
	timeline.Draw(t, timeline.Resource{
		Of: of, Events: append(ended, open...), Here: b.calls.Instances.Has,
		Restarts: b.calls.Timeline.Restarts(of.Backend, after),
	})
	return events, calls
}

// timelines returns the recorded resources that were asked for.
func (b *Board) timelines(now time.Time, resource, backend string) (chosen []text.ID, err error) {
	all := b.calls.Timeline.Recorded(now)
	missing := &NotRecordedError{
		Resource: resource, Backend: backend, Limit: b.calls.Timeline.Max(), Recorded: []Recorded{},
	}
	const listed = 20
	for _, of := range all {
		if (resource == "" || of.Resource == resource) && (backend == "" || of.Backend == backend) {
			chosen = append(chosen, of)
		}
		if len(missing.Recorded) < listed {
			missing.Recorded = append(missing.Recorded, Recorded{text.Resource(of.Resource), text.Name(of.Backend)})
		} else {
			missing.More++
		}
	}
	if len(chosen) == 0 {
		return nil, missing
	}
	return chosen, nil
}
