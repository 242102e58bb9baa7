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

// goesOn reports whether a tenure is that of the current holder, as refusals name it.
func (t *tenure) goesOn(holder *state.Blocker, now time.Time) bool {
	if holder == nil || holder.Age == nil || t.named.IsZero() || holder.Holder != text.Name(t.instance) {
		return false
	}
	const rounded = time.Millisecond // an age is in seconds, as a fraction
	return (now.Sub(t.named) - time.Duration(*holder.Age*float64(time.Second))).Abs() < rounded
}
