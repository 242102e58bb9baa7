package scanner

import (
	"time"
)

// WithRepairMinAge sets for how long a value must have been seen under its key before it
// is repaired. That is counted from the first sweep of this Scanner that found it, by
// this machine's clock: what a value says of its age is its holder's to say, and what
// Redis calls idle time begins anew with every look. Zero repairs what one sweep has seen
// twice: a holder that is at work loses its lock.
func WithRepairMinAge(d time.Duration) Option { return func(c *config) { c.repairMinAge = d } }

// WithOneRedlock says that the nodes are all those of one Redlock, as their services name
// them. Without it that is looked up on the nodes, see [ReasonOrphans]: Redlocks of fewer
// than three nodes, and those with a cluster or a Sentinel group among them, do not tell.
// If it is not true, every healthy lock is an [Orphan].
func WithOneRedlock() Option { return func(c *config) { c.oneRedlock = true } }
