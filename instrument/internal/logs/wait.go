package logs

import (
	"errors"
	"log/slog"
	"time"

	"github.com/lockscope/lockscope/instrument/internal/longwait"
	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// LongWait describes a call that has waited for long.
type LongWait struct {
	Waited    time.Duration
	Others    longwait.State  // of all calls for its resource, itself included
	Blocker   *lock.HeldError // the last one reported; nil: none
	HeldHere  bool            // a lease of this process has the resource
	HeldSince time.Time
}

// LongWait logs what keeps a call from the lock.
func (l *Log) LongWait(s Subject, w LongWait) {
	if l == nil {
		return
	}
	why := w.reason()
	p, ok := l.admit("still waiting for the lock", string(why.class), s.Label)
	if !ok {
		return
	}
	attrs := append(s.attrs(), slog.String("class", string(why.class)), duration("waited", w.Waited),
		slog.Int("waiting", max(w.Others.Count, 1)), duration("longest_wait", max(w.Others.Longest, w.Waited)))
	if held := lock.HeldLeases(s.Context); len(held) > 0 {
		attrs = append(attrs, slog.Any("holding", spans.Resources(held)))
	}
	l.queue.add(s.Context, p, slog.LevelWarn, append(attrs, why.attrs...)...)
}

// WaitedLong logs the end of a wait that was logged more than once.
func (l *Log) WaitedLong(s Subject, waited time.Duration, out outcome.Acquisition) {
	if l == nil {
		return
	}
	if p, ok := l.admit("long wait for the lock is over", out.String(), s.Label); ok {
		l.queue.add(s.Context, p, slog.LevelInfo,
			append(s.attrs(), duration("waited", waited), slog.String("outcome", out.String()))...)
	}
}

// reason is the class of a wait and its attributes.
type reason struct {
	class locktrace.Wait
	attrs []slog.Attr
}

// reason first checks whether a lease of this process holds the resource, because calls behind it do not ask the
// nodes.
func (w *LongWait) reason() reason {
	if w.HeldHere {
		return reason{locktrace.WaitHolder, []slog.Attr{
			slog.String("blocker", "this process"), slog.Time("blocker_since", w.HeldSince),
		}}
	}
	if !w.Others.Known {
		// A call in front of it makes its first attempt; what is known of the blocker is from before.
		if w.Blocker != nil {
			return reason{locktrace.WaitHolder, blockerAttrs(w.Blocker)}
		}
		return reason{class: locktrace.WaitNetwork}
	}
	last := w.Others.Last
	r := reason{class: last.Class()}
	if last.Ahead > 0 {
		r.attrs = append(r.attrs, slog.Int("ahead", last.Ahead))
	}
	if quorum, ok := errors.AsType[*lock.QuorumError](last.Last); ok {
		r.attrs = append(r.attrs, quorumAttrs(quorum)...)
	} else if last.Blocker != nil {
		r.attrs = append(r.attrs, blockerAttrs(last.Blocker)...)
		r.attrs = append(r.attrs, heldAttrs(last.Blocker)...)
	}
	return r
}
