package calls

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/names"
	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/lock"
)

// lines are the callers that wait for their turn in this process, by resource. Lockers of one Board that contend for
// one resource have a line each. The mutex of the ledger guards them.
type lines map[names.ID][]*ownedLine

type ownedLine struct {
	*profile.Line
	of    names.ID
	owner *Owner
}

// look charges the lines for a resource, whose holder may change now.
func (l lines) look(of names.ID, now time.Time) {
	for _, line := range l[of] {
		line.Look(now)
	}
}

func (l lines) lookAll(now time.Time) {
	for of := range l {
		l.look(of, now)
	}
}

// find returns the line of a locker, and makes one if there is none.
func (l *lines) find(of names.ID, owner *Owner) *ownedLine {
	for _, line := range (*l)[of] {
		if line.owner == owner {
			return line
		}
	}
	if *l == nil {
		*l = make(lines)
	}
	added := &ownedLine{owner.Records.Profile.NewLine(of), of, owner}
	(*l)[of] = append((*l)[of], added)
	return added
}

// join puts a call in line. It returns what the line has spent before.
func (l *ledger) join(of names.ID, owner *Owner, now time.Time, e lock.WaitStart) (*ownedLine, profile.Spent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.lines.find(of, owner)
	return line, line.Join(now, e.Front)
}

// leave takes a call out of its line. It returns what the call has spent in it.
func (l *ledger) leave(line *ownedLine, joined profile.Spent, now time.Time) (spent profile.Spent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line.Leave(now)
	spent.AddSince(line.Spent(), joined)
	if !line.Empty() {
		return spent
	}
	rest := slices.DeleteFunc(l.lines[line.of], func(other *ownedLine) bool { return other == line })
	if l.lines[line.of] = rest; len(rest) == 0 {
		delete(l.lines, line.of)
	}
	return spent
}

// look charges the lines for a resource.
func (l *ledger) look(id func() names.ID, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) > 0 {
		l.lines.look(id(), now)
	}
}
