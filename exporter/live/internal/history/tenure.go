package history

import (
	"time"

	"github.com/lockscope/lockscope/exporter/live/internal/text"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// tenure is a lease that has ended, or a holder that refusals named.
type tenure struct {
	instance, callSite string
	trace              string
	since, until       time.Time // of a lease of the Board: from the grant to its end here
	elsewhere          bool
	kept               bool // it ended without a release: the nodes have it until its TTL has run out
	// named is since when it is held, as nodes said, and told when they last said so; zero: they did not.
	named, told time.Time
}

// ended is when the nodes were last known to have the lease.
func (t *tenure) ended() time.Time {
	if t.told.After(t.until) {
		return t.told
	}
	return t.until
}

// rounded is how much an age is off that went through a number of seconds with a fraction.
const rounded = time.Millisecond

// goesOn reports whether a tenure is that of the current holder, as refusals name it. A lease of the Board that was
// lost may not have been named since: it was granted after its attempt began, and the nodes have the time of that.
func (t *tenure) goesOn(holder *state.Blocker, now time.Time) bool {
	if holder == nil || holder.Age == nil || holder.Holder != text.Name(t.instance) {
		return false
	}
	since := now.Add(-time.Duration(*holder.Age * float64(time.Second)))
	if t.named.IsZero() {
		return t.kept && since.Sub(t.since) < rounded
	}
	return t.named.Sub(since).Abs() < rounded
}
