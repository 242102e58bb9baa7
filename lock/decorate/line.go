package decorate

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Line is the callers of one process that wait for their turn behind the same caller or lease. What they
// wait for changes without any of them doing something, each time that the lock is handed to another of
// them. A Line adds up the time of all of them at once, so a wait costs the same however many callers are
// in the line, and each successive holder is charged with its own part of it.
//
// A decorator that knows about an event after which the callers may wait for something else calls
// [Line.Look]: an attempt or a wait of a call for the resource that begins or ends, and a call that has
// been granted the lock. The time before is spent on what the callers waited for until then.
//
// Make one with [NewLine]. The caller of its methods guards it: it is not safe for concurrent use.
type Line struct {
	charge func(LineStretch)
	spend  func(Stretch)
	front  func() (*lock.HeldError, error) // locktrace.WaitStart.Front of the latest caller

	waiting int // callers
	joined  int // callers that no holder has been charged for since they wait behind it
	since   time.Time
	class   locktrace.Wait
	blocker *lock.HeldError
	behind  *lock.HeldError // the last one that holds the lock
	charged time.Time
	owed    time.Duration // time of all callers since then
}

// LineStretch is time that the callers of a [Line] spent for one reason. Its Took is that of all of them
// together.
type LineStretch struct {
	Stretch
	Until time.Time     // end of that time
	Span  time.Duration // how long before Until it began
	Waits int           // how many callers began to wait behind Blocker
}

// NewLine returns a line without callers. charge receives all time of its callers once; it is called
// rarely, at the latest by Charge and when the last caller leaves. Unless spend is nil, it receives each
// stretch of a caller that is in the line throughout: what a caller has spent is what spend received
// between its Join and its Leave. Both run inside the methods of the line, which they must not call.
func NewLine(charge func(LineStretch), spend func(Stretch)) *Line {
	return &Line{charge: charge, spend: spend}
}

// Join adds a caller, whose wait has this [locktrace.WaitStart] Front.
func (l *Line) Join(now time.Time, front func() (*lock.HeldError, error)) {
	l.add(now)
	if l.front = front; l.waiting == 0 {
		l.charged = now
		l.look()
	}
	l.waiting++
	l.joined++
}

// Leave removes a caller. It does not look, because the front is often not settled yet when a turn comes.
func (l *Line) Leave(now time.Time) {
	l.add(now)
	if l.waiting == 1 {
		l.pay()
	}
	if l.waiting--; !holds(l.blocker) {
		l.joined = min(l.joined, l.waiting)
	}
}

// Look learns what the callers wait for from now on.
func (l *Line) Look(now time.Time) {
	l.add(now)
	l.look()
}

// Charge charges the time until now. Call it before the sums are read.
func (l *Line) Charge(now time.Time) {
	l.Look(now)
	l.pay()
}

// Empty reports whether nobody waits.
func (l *Line) Empty() bool { return l.waiting == 0 }

// add adds up the time until now.
func (l *Line) add(now time.Time) {
	took := now.Sub(l.since)
	if took <= 0 {
		return // hooks of several calls come in any order
	}
	l.since = now
	if l.waiting == 0 {
		return
	}
	l.owed += took * time.Duration(l.waiting)
	if l.spend != nil {
		l.spend(Stretch{Class: l.class, Blocker: l.blocker, Took: took})
	}
}

// pay charges what has been added up.
func (l *Line) pay() {
	s := LineStretch{
		Stretch: Stretch{Class: l.class, Blocker: l.blocker, Took: l.owed},
		Until:   l.since, Span: l.since.Sub(l.charged),
	}
	l.owed, l.charged = 0, l.since
	if holds(l.blocker) {
		s.Waits, l.joined = l.joined, 0
	}
	if s.Took > 0 || s.Waits > 0 {
		l.charge(s)
	}
}

// look asks what the callers wait for. All of them begin to wait again behind a holder that was not there before.
func (l *Line) look() {
	class, blocker := l.ask()
	if class == l.class && sameBlocker(blocker, l.blocker) {
		return
	}
	l.pay()
	l.class, l.blocker = class, blocker
	if holds(blocker) && !sameBlocker(blocker, l.behind) {
		l.behind, l.joined = blocker, l.waiting
	}
}

// ask contains panics, because errors of drivers may come from anybody. The class is "" then.
func (l *Line) ask() (class locktrace.Wait, blocker *lock.HeldError) {
	defer func() {
		if recover() != nil {
			class, blocker = "", nil
		}
	}()
	return frontOf(l.front)
}

// holds reports whether a blocker holds the lock. While the lock is kept for the next waiter, nobody does.
func holds(b *lock.HeldError) bool { return b != nil && !b.HandedOver }

// sameBlocker compares process and call site. Leases of the same code count as one holder.
func sameBlocker(a, b *lock.HeldError) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.HandedOver == b.HandedOver && a.Holder.Instance == b.Holder.Instance &&
		a.Holder.CallSite == b.Holder.CallSite
}

// frontOf is what the callers behind another one of their process wait for.
func frontOf(front func() (*lock.HeldError, error)) (locktrace.Wait, *lock.HeldError) {
	blocker, last := front()
	class := locktrace.WaitStart{Kind: locktrace.WaitLocal, Blocker: blocker, Last: last}.Class()
	if class != locktrace.WaitHolder {
		blocker = nil
	}
	return class, blocker
}
