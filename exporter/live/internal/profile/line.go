package profile

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/internal/panics"
	"github.com/lockscope/lockscope/lock"
)

// Line is the callers of one process that wait for their turn behind the same caller or lease. What they wait for
// changes without any of them doing something, each time that the lock is handed to another of them. A Line adds up
// the time of all of them at once, so a wait costs the same however many callers are in the line.
//
// The caller of its methods guards it.
type Line struct {
	of       names.ID
	recorder *Recorder
	front    func() (*lock.HeldError, error) // lock.WaitStart.Front of the latest caller

	waiting int // callers
	joined  int // callers that no holder has been charged for since they wait behind it
	since   time.Time
	cause   Cause
	behind  Holder // the last that counts
	charged time.Time
	owed    time.Duration // what the cause has to be charged for since then
	spent   Spent         // of a caller that has been in the line from the start
}

// NewLine returns a line without callers.
func (r *Recorder) NewLine(of names.ID) *Line { return &Line{of: of, recorder: r} }

// Join adds a caller, and returns what the line has spent before.
func (l *Line) Join(now time.Time, front func() (*lock.HeldError, error)) Spent {
	l.add(now)
	if l.front = front; l.waiting == 0 {
		l.charged = now
		l.look()
	}
	l.waiting++
	l.joined++
	return slices.Clone(l.spent)
}

// Leave removes a caller. It does not look, because the front is often not settled yet when a turn comes.
func (l *Line) Leave(now time.Time) {
	l.add(now)
	if l.waiting == 1 {
		l.charge()
	}
	if l.waiting--; !l.cause.Holder.Counts() {
		l.joined = min(l.joined, l.waiting)
	}
}

// Look learns what the callers wait for from now on.
func (l *Line) Look(now time.Time) {
	l.add(now)
	l.look()
}

// Charge charges the holder for the time until now.
func (l *Line) Charge(now time.Time) {
	l.Look(now)
	l.charge()
}

// Empty reports whether nobody waits.
func (l *Line) Empty() bool { return l.waiting == 0 }

// Spent is what a caller has spent that has been in the line from the start. It changes with the next call of a
// method.
func (l *Line) Spent() Spent { return l.spent }

// add adds up the time until now.
func (l *Line) add(now time.Time) {
	took := now.Sub(l.since)
	if took <= 0 {
		return // hooks of several calls come in any order
	}
	l.since = now
	if l.waiting > 0 {
		l.spent.Add(l.cause, took)
		l.owed += took * time.Duration(l.waiting)
	}
}

// charge charges what has been added up.
func (l *Line) charge() {
	i := Inflicted{Of: l.of, Holder: l.cause.Holder, Took: l.owed, Span: l.since.Sub(l.charged)}
	l.owed, l.charged = 0, l.since
	if l.cause.Class != lock.WaitBehindHolder {
		return
	}
	if i.Holder.Counts() {
		i.Waits, l.joined = l.joined, 0
	}
	l.recorder.Inflict(l.since, i)
}

// look asks what the callers wait for. All of them begin to wait again behind a holder that was not there before.
func (l *Line) look() {
	cause := l.ask()
	if cause == l.cause {
		return
	}
	l.charge()
	l.cause = cause
	if h := cause.Holder; cause.Class == lock.WaitBehindHolder && h.Counts() && h != l.behind {
		l.behind, l.joined = h, l.waiting
	}
}

// ask contains panics, because errors of drivers may come from anybody.
func (l *Line) ask() (c Cause) {
	c.Class = Unknown
	defer panics.Contain()
	blocker, last := l.front()
	class := lock.WaitStart{Kind: lock.WaitLocal, Blocker: blocker, Last: last}.Class()
	return CauseOf(class, blocker)
}
