package timeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock"
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

// Waited is when somebody last waited for the resource.
func (t *Track) Waited() time.Time { return t.base.Add(time.Duration(t.waited.Load())) }

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
