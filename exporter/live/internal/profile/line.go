package profile

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/internal/panics"
	"github.com/lockscope/lockscope/lock"
)

// Line is the callers of one process that wait for their turn behind the same caller or lease. What they wait for
// changes without any of them doing something, each time that the lock is handed to another of them. A Line charges
// all of them at once when it is looked at, so a wait costs the same however many callers are in the line.
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
	spent   Spent  // of a caller that has been in the line from the start
}

// NewLine returns a line without callers.
func (r *Recorder) NewLine(of names.ID) *Line { return &Line{of: of, recorder: r} }

// Join adds a caller, and returns what the line has spent before.
func (l *Line) Join(now time.Time, front func() (*lock.HeldError, error)) Spent {
	l.charge(now)
	if l.front = front; l.waiting == 0 {
		l.look()
	}
	l.waiting++
	l.joined++
	return slices.Clone(l.spent)
}

// Leave removes a caller. It does not look, because the front is often not settled yet when a turn comes.
func (l *Line) Leave(now time.Time) {
	l.charge(now)
	l.waiting--
	l.joined = min(l.joined, l.waiting)
}

// Look charges the time until now, and learns what the callers wait for from now on.
func (l *Line) Look(now time.Time) {
	l.charge(now)
	l.look()
}

// Empty reports whether nobody waits.
func (l *Line) Empty() bool { return l.waiting == 0 }

// Spent is what a caller has spent that has been in the line from the start. It changes with the next call of a
// method.
func (l *Line) Spent() Spent { return l.spent }

func (l *Line) charge(now time.Time) {
	took := max(now.Sub(l.since), 0)
	l.since = now
	if l.waiting == 0 {
		return
	}
	l.spent.Add(l.cause, took)
	if l.cause.Class != lock.WaitBehindHolder {
		return
	}
	i := Inflicted{Of: l.of, Holder: l.cause.Holder, Took: took * time.Duration(l.waiting), Span: took}
	if i.Holder.Counts() {
		i.Waits, l.joined = l.joined, 0
	}
	l.recorder.Inflict(now, i)
}

// look asks what the callers wait for. All of them begin to wait again behind a holder that was not there before.
func (l *Line) look() {
	l.cause = l.ask()
	if h := l.cause.Holder; l.cause.Class == lock.WaitBehindHolder && h.Counts() && h != l.behind {
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
