package profile

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Line is the callers of one process that wait for their turn for one resource. It charges holders, and remembers what
// a caller has spent.
//
// The caller of its methods guards it.
type Line struct {
	*decorate.Line
	of       text.ID
	recorder *Recorder
	spent    Spent // of a caller that has been in the line from the start
}

// NewLine returns a line without callers.
func (r *Recorder) NewLine(of text.ID) *Line {
	l := &Line{of: of, recorder: r}
	l.Line = decorate.NewLine(l.inflict, l.spend)
	return l
}

// Join adds a caller, and returns what the line has spent before.
func (l *Line) Join(now time.Time, front func() (*lock.HeldError, error)) Spent {
	l.Line.Join(now, front)
	return slices.Clone(l.spent)
}

// Spent is what a caller has spent that has been in the line from the start. It changes with the next call of a
// method.
func (l *Line) Spent() Spent { return l.spent }

func (l *Line) spend(s decorate.Stretch) {
	l.spent.Add(CauseOf(cmp.Or(s.Class, Unknown), s.Blocker), s.Took)
}

func (l *Line) inflict(s decorate.LineStretch) {
	if s.Class == locktrace.WaitHolder {
		holder := CauseOf(s.Class, s.Blocker).Holder
		l.recorder.Inflict(s.Until, Inflicted{Of: l.of, Holder: holder, Waits: s.Waits, Took: s.Took, Span: s.Span})
	}
}
