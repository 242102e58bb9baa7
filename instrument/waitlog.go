package instrument

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// waitLog knows the calls of this process that wait, by resource: what a record of a long wait says of the others.
// A nil one knows nothing.
type waitLog struct {
	mu         sync.Mutex
	byResource map[string]*waiters
}

// waiters are the calls that wait for a resource.
type waiters struct {
	calls map[*call]struct{}
	last  lock.WaitStart // of the call that asked the nodes last; zero until one did
}

// newWaitLog is nil where no record would be made of it.
func newWaitLog(cfg config) *waitLog {
	if cfg.logger == nil || cfg.longWait <= 0 {
		return nil
	}
	return &waitLog{byResource: make(map[string]*waiters)}
}

// note takes the beginning of a wait. The call waits from its first on; remove ends that.
func (w *waitLog) note(c *call, e lock.WaitStart) {
	if w == nil || !c.waits() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.byResource[c.resource]
	if all == nil {
		all = &waiters{calls: make(map[*call]struct{})}
		w.byResource[c.resource] = all
	}
	all.calls[c] = struct{}{}
	if e.Kind != lock.WaitLocal {
		all.last = e
	}
}

func (w *waitLog) remove(c *call) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.byResource[c.resource]
	if all == nil {
		return
	}
	if delete(all.calls, c); len(all.calls) == 0 {
		delete(w.byResource, c.resource)
	}
}

// waitState is what a record says of all waits for a resource.
type waitState struct {
	count   int
	longest time.Duration
	last    lock.WaitStart
	known   bool // last was set
}

func (w *waitLog) state(resource string) (s waitState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.byResource[resource]
	if all == nil {
		return s
	}
	s.count, s.last, s.known = len(all.calls), all.last, all.last.Kind != ""
	for c := range all.calls {
		s.longest = max(s.longest, time.Since(c.began))
	}
	return s
}

func (l *Locker) logLongWait(c *call) {
	if l.waits == nil {
		return
	}
	s := l.waits.state(c.resource)
	waited := time.Since(c.began)
	why := l.whyWaits(c, s)
	p, ok := l.log.admit("still waiting for the lock", string(why.class), c.series.label)
	if !ok {
		return
	}
	attrs := append(c.logAttributes(),
		slog.String("resource", c.resource), slog.String("class", string(why.class)), duration("waited", waited),
		slog.Int("waiting", max(s.count, 1)), duration("longest_wait", max(s.longest, waited)))
	if held := lock.Holding(c); len(held) > 0 {
		attrs = append(attrs, slog.Any("holding", resourcesOf(held)))
	}
	l.log.add(c, p, slog.LevelWarn, append(attrs, why.attrs...)...)
}

// reasonToWait is the class of a wait, and what the record says of it.
type reasonToWait struct {
	class lock.WaitClass
	attrs []slog.Attr
}

// whyWaits asks first whether a lease of this process has the resource: the calls behind it do not ask the nodes.
func (l *Locker) whyWaits(c *call, s waitState) reasonToWait {
	if since, ok := c.series.held.of(c.resource); ok {
		return reasonToWait{lock.WaitBehindHolder, []slog.Attr{
			slog.String("blocker", "this process"), slog.Time("blocker_since", since),
		}}
	}
	if !s.known {
		// A call in front of it makes its first attempt; what is known of the blocker is from before.
		if b := c.blocker.Load(); b != nil {
			return reasonToWait{lock.WaitBehindHolder, blockerAttrs(b)}
		}
		return reasonToWait{class: lock.WaitNetwork}
	}
	r := reasonToWait{class: s.last.Class()}
	if s.last.Ahead > 0 {
		r.attrs = append(r.attrs, slog.Int("ahead", s.last.Ahead))
	}
	if quorum, ok := errors.AsType[*lock.QuorumError](s.last.Last); ok {
		r.attrs = append(r.attrs, quorumAttrs(quorum)...)
	} else if s.last.Blocker != nil {
		r.attrs = append(r.attrs, blockerAttrs(s.last.Blocker)...)
		r.attrs = append(r.attrs, heldAttrs(s.last.Blocker)...)
	}
	return r
}

// of is since when a lease of the series holds that very resource.
func (h *holding) of(resource string) (since time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for m := h.first; m != nil; m = m.later {
		if m.call.resource == resource {
			return m.call.began.Add(m.waited), true
		}
	}
	return time.Time{}, false
}

// blockerAttrs say who is waited for, by the holder's own clock.
func blockerAttrs(b *lock.HeldError) (attrs []slog.Attr) {
	switch {
	case b.HandedOver:
		attrs = append(attrs, slog.String("blocker", "the next waiter"))
	case b.Holder.Instance == "":
		attrs = append(attrs, slog.String("blocker", "unknown"))
	default:
		attrs = append(attrs, slog.String("blocker", b.Holder.Instance), slog.Time("blocker_since", b.Holder.Since))
	}
	if b.Holder.CallSite != "" {
		attrs = append(attrs, slog.String("blocker_call_site", b.Holder.CallSite))
	}
	if sc := parseTraceparent(b.Holder.Traceparent); sc.IsValid() {
		attrs = append(attrs, slog.String("blocker_trace_id", sc.TraceID().String()))
	}
	switch {
	case b.Remaining > 0:
		attrs = append(attrs, duration("expires_in", b.Remaining))
	case b.Remaining < 0:
		attrs = append(attrs, slog.String("expires_in", "never"))
	}
	return attrs
}

func resourcesOf(held []lock.Held) (names []string) {
	for _, h := range held {
		names = append(names, h.Resource)
	}
	return names
}
