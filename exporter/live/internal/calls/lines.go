package calls

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/text"
)

// lines are the callers that wait for their turn in this process, by resource. Lockers of one Board that contend for
// one resource have a line each. The mutex of the shard guards them.
type lines map[text.ID][]*ownedLine

type ownedLine struct {
	*profile.Line
	of    text.ID
	owner *Owner
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
func (l *lines) find(of text.ID, owner *Owner) *ownedLine {
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

// drop forgets a line without callers.
func (l lines) drop(line *ownedLine) {
	if !line.Empty() {
		return
	}
	rest := slices.DeleteFunc(l[line.of], func(other *ownedLine) bool { return other == line })
	if l[line.of] = rest; len(rest) == 0 {
		delete(l, line.of)
	}
}
