package calls

import (
	"cmp"
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// lines are the callers that wait for their turn in this process, by resource. Lockers of one Board that contend for
// one resource have a line each. The mutex of the shard guards them.
type lines map[text.ID][]*line

// line charges the holders that its callers wait for, and remembers what a caller has spent.
type line struct {
	*decorate.Line
	of    text.ID
	owner *Owner
	spent profile.Spent // of a caller that has been in the line from the start
}

func newLine(of text.ID, owner *Owner) *line {
	l := &line{of: of, owner: owner}
	l.Line = decorate.NewLine(l.inflict, l.spend)
	return l
}

func (l *line) spend(s decorate.Stretch) {
	by := profile.HolderOf(s.Class, s.Blocker)
	l.spent.Add(profile.Stretch{Class: cmp.Or(s.Class, profile.Unknown), Instance: by.Instance, Took: s.Took})
}

func (l *line) inflict(s decorate.LineStretch) {
	if s.Class == locktrace.WaitHolder {
		l.owner.Records.Profile.Inflict(l.of, profile.HolderOf(s.Class, s.Blocker), s)
	}
}

// look is for an event after which the callers may wait for something else.
func (l lines) look(of text.ID, now time.Time) {
	for _, line := range l[of] {
		line.Look(now)
	}
}

// charge charges the holders for the time until now.
func (l lines) charge(now time.Time) {
	for _, all := range l {
		for _, line := range all {
			line.Charge(now)
		}
	}
}

// find returns the line of a locker, and makes one if there is none.
func (l *lines) find(of text.ID, owner *Owner) *line {
	for _, line := range (*l)[of] {
		if line.owner == owner {
			return line
		}
	}
	if *l == nil {
		*l = make(lines)
	}
	added := newLine(of, owner)
	(*l)[of] = append((*l)[of], added)
	return added
}

// drop forgets a line without callers.
func (l lines) drop(empty *line) {
	if !empty.Empty() {
		return
	}
	rest := slices.DeleteFunc(l[empty.of], func(other *line) bool { return other == empty })
	if l[empty.of] = rest; len(rest) == 0 {
		delete(l, empty.of)
	}
}
