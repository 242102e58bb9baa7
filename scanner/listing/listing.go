package listing

import (
	"fmt"
	"time"
)

// DefaultLimit is how many locks a [Listing] keeps.
const DefaultLimit = 1000

// Options say what a [Listing] has. The zero value is every lock of the
// Scanner's pattern, those that live longest first.
type Options struct {
	Order    Order  // empty: ByTTL
	Reverse  bool   // last ones first
	Contains string // only resources with this text in their name
	Glob     string // only resources that match this pattern, as Redis matches them
	Waits    bool   // also read who waits: a second pass over the keys
	Limit    int    // locks kept, the first ones of the order; 0: DefaultLimit
}

// Listing is who holds what now, or nearly so: a lock that was taken or released
// while the nodes were read may or may not be there.
type Listing struct {
	Started time.Time
	Took    time.Duration
	Reading time.Duration // of Took: without finding the nodes and waiting for those that are silent from the first
	Locks   []Lock
	// Omitted counts locks beyond the limit. From half a million locks on it can be
	// too high: those that several nodes have may count several times.
	Omitted int64
	// Truncated says that not every node was read to its end: locks may be missing
	// from Locks and Omitted, and nodes from Of.
	Truncated bool
	Nodes     []Node
	Waits     *Waits // nil unless it was asked for
}

// Node is what reading one server told.
type Node struct {
	Node      string // as in [report.NodeReport]
	Locks     int64  // that it has of those asked for, about
	Truncated bool   // not read to its end
	Err       error  // why, if that was not for the context or the deadline
}

// Complete sets what is left at zero, and returns what makes no sense.
func (o *Options) Complete() error {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	switch o.Order {
	case "":
		o.Order = ByTTL
	case ByTTL, ByAge, ByResource:
	default:
		return fmt.Errorf("unknown order %q: use ttl, age or resource", string(o.Order))
	}
	if o.Limit < 0 {
		return fmt.Errorf("the limit of %d locks is negative", o.Limit)
	}
	return nil
}

// Comparison returns how two locks compare in the order asked for: negative if a comes first.
func (o *Options) Comparison() func(a, b *Lock) int {
	compare := o.Order.comparison()
	if !o.Reverse {
		return compare
	}
	return func(a, b *Lock) int { return compare(b, a) }
}
