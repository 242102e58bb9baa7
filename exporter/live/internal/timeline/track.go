package timeline

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// MaxEvents is how many events of a resource are kept, the latest.
const MaxEvents = 4096

// maxTexts bounds the texts that are shared.
const maxTexts = 64

// Track has the latest events of one resource. It is safe for concurrent use.
type Track struct {
	of     text.ID
	base   time.Time
	here   func(instance string) bool
	waited atomic.Int64 // when somebody last waited, since base

	mu     sync.Mutex
	events []Event // a ring once it is full
	next   int
	lost   uint64            // events that were overwritten
	holder *Holder           // the one that a refusal named last
	texts  map[string]string // of failures
}

// add returns the place of the next event, to be set as a whole. mu must be held.
func (t *Track) add() *Event {
	if len(t.events) < MaxEvents {
		t.events = append(t.events, Event{})
		return &t.events[len(t.events)-1]
	}
	e := &t.events[t.next]
	if t.next++; t.next == MaxEvents {
		t.next = 0
	}
	t.lost++
	return e
}

// Copy returns the events that ended after a time, in the order in which they were recorded, at most limit of them, the
// latest. omitted is how many others there were.
func (t *Track) Copy(after time.Time, limit int) (events []Event, omitted uint64) {
	since := after.Sub(t.base)
	t.mu.Lock()
	defer t.mu.Unlock()
	omitted = t.lost
	for i := range t.events {
		if e := &t.events[(t.next+i)%len(t.events)]; e.End >= since {
			events = append(events, *e)
		}
	}
	if n := len(events) - limit; n > 0 {
		events, omitted = events[n:], omitted+uint64(n)
	}
	return events, omitted
}

// share returns the same string for equal texts. mu must be held.
func (t *Track) share(s string) string {
	if known, ok := t.texts[s]; ok {
		return known
	}
	if t.texts == nil || len(t.texts) >= maxTexts {
		t.texts = make(map[string]string)
	}
	t.texts[s] = s
	return s
}

// failure is the text of an error. mu must be held.
func (t *Track) failure(err error) string {
	if err == nil {
		return ""
	}
	return t.share(text.Detail(err))
}

// holderOf is the holder that a refusal named; nil if it named none. mu must be held.
func (t *Track) holderOf(held *lock.HeldError) *Holder {
	if held == nil || held.Holder.Instance == "" {
		return nil
	}
	since := held.Holder.Since.Sub(t.base)
	if t.holder.is(held, since) {
		return t.holder
	}
	t.holder = &Holder{
		Instance: text.Name(held.Holder.Instance), CallSite: text.Name(held.Holder.CallSite),
		Trace: text.TraceOf(held.Holder.Traceparent), Since: since, Known: !held.Holder.Since.IsZero(),
		Here: t.here(held.Holder.Instance),
	}
	return t.holder
}

// Done is a call that has ended, or that is under way.
type Done struct {
	text.ID
	Trace        trace.TraceID
	Of           *Caller // nil if there is no track
	Began, Ended time.Time
	Err          error // nil if it acquired the lock
	Open         bool  // it is under way: Ended is the time of the look
	Trail        Trail
}

// AddCall records a call that has ended, with its steps.
func (t *Track) AddCall(d Done) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call(t.add(), &d)
	began := d.Began.Sub(t.base)
	steps, _ := d.Trail.Steps()
	for i := range steps {
		t.step(t.add(), d.Of, began, &steps[i])
	}
}

// Look returns the events of a call under way, with the steps that have ended and the current one.
func (t *Track) Look(d Done, current Step) []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	steps, _ := d.Trail.Steps()
	events := make([]Event, 2+len(steps))
	t.call(&events[0], &d)
	began := d.Began.Sub(t.base)
	for i := range steps {
		t.step(&events[2+i], d.Of, began, &steps[i])
	}
	t.step(&events[1], d.Of, began, &current)
	events[1].Open = true
	return events
}

// AddStep records a step that ended after its call, or that belongs to no Acquire.
func (t *Track) AddStep(of *Caller, began time.Time, s Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step(t.add(), of, began.Sub(t.base), &s)
}

// AddLease records a lease that has ended. cause is that of its context, before the release if there was one.
func (t *Track) AddLease(of *Caller, held, ended time.Time, fence uint64, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	*t.add() = t.lease(of, held, ended, fence, ending(cause))
}

// LookLease returns the event of a lease that is held.
func (t *Track) LookLease(of *Caller, held, now time.Time, fence uint64) Event {
	e := t.lease(of, held, now, fence, "")
	e.Open = true
	return e
}

func (t *Track) lease(of *Caller, held, ended time.Time, fence uint64, how string) Event {
	return Event{
		Kind: Lease, Of: of, Fence: fence, Start: held.Sub(t.base), End: ended.Sub(t.base), Outcome: how,
	}
}

// ending is how a lease ended.
func ending(cause error) string {
	switch {
	case cause == nil, errors.Is(cause, lock.ErrReleased):
		return Released
	case errors.Is(cause, lock.ErrMaxHold):
		return MaxHold
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return string(lock.ReasonOf(cause))
	default:
		return Lost
	}
}

// AddRenewal records a round of renewal that ends now.
func (t *Track) AddRenewal(of *Caller, now time.Time, r locktrace.RenewEnd) {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := now.Sub(t.base)
	*t.add() = Event{
		Kind: Renewal, Of: of, Fence: r.Fence, Start: end - r.Took, End: end, Outcome: string(r.Outcome),
		Detail: t.failure(r.Err),
	}
}

// call requires that mu is held.
func (t *Track) call(e *Event, d *Done) {
	_, omitted := d.Trail.Steps()
	*e = Event{
		Kind: Call, Of: d.Of, Start: d.Began.Sub(t.base), End: d.Ended.Sub(t.base), Outcome: Acquired,
		Open: d.Open, Detail: t.failure(d.Err), Attempt: int32(omitted),
	}
	switch {
	case d.Open:
		e.Outcome = ""
	case d.Err != nil:
		e.Outcome = string(lock.ReasonOf(d.Err))
	}
}

// step requires that mu is held.
func (t *Track) step(e *Event, of *Caller, began time.Duration, s *Step) {
	*e = Event{
		Kind: s.Kind, Of: of, Start: began + s.Start, End: began + s.Start + s.Took, Name: s.Name, Outcome: string(s.Outcome),
		Attempt: int32(s.Attempt), By: t.holderOf(s.Blocker),
	}
	switch s.Kind {
	case Vote:
		e.What, e.Outcome = string(s.Op), string(verdictOf(s))
	case Wait:
		e.What = string(s.Class)
	}
	switch {
	case s.Err == nil, e.Kind == Attempt && s.Blocker != nil: // a refusal is in By
	case e.Outcome == string(lock.VerdictUnheard):
	default:
		e.Detail = t.failure(s.Err)
	}
}

// verdictOf tells a node that failed from one that was not asked, or whose answer nobody waited for.
func verdictOf(s *Step) lock.Verdict {
	switch {
	case s.Err == nil:
		return s.Outcome
	case errors.Is(s.Err, driver.ErrUnheard):
		return lock.VerdictUnheard
	case driver.ClassOf(s.Err) == driver.Busy:
		return lock.VerdictNotAsked
	default:
		return s.Outcome
	}
}
