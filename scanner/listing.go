package scanner

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// DefaultListLimit is how many locks a [Listing] keeps.
const DefaultListLimit = 1000

// ListOptions say what a [Listing] has. The zero value is every lock of the
// Scanner's pattern, those that live longest first.
type ListOptions struct {
	Order    Order  // empty: ByTTL
	Reverse  bool   // last ones first
	Contains string // only resources with this text in their name
	Glob     string // only resources that match this pattern, as Redis matches them
	Waits    bool   // also read who waits: a second pass over the keys
	Limit    int    // locks kept, the first ones of the order; 0: DefaultListLimit
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
	Nodes     []ListedNode
	Waits     *Waits // nil unless it was asked for
}

// ListedNode is what reading one server told.
type ListedNode struct {
	Node      string // as in [NodeReport]
	Locks     int64  // that it has of those asked for, about
	Truncated bool   // not read to its end
	Err       error  // why, if that was not for the context or the deadline
}

func (o *ListOptions) validate() error {
	if o.Limit == 0 {
		o.Limit = DefaultListLimit
	}
	switch o.Order {
	case "":
		o.Order = ByTTL
	case ByTTL, ByAge, ByResource:
	default:
		return fmt.Errorf("%w: there is no order %q: ttl, age or resource", ErrInvalidOption, string(o.Order))
	}
	if o.Limit < 0 {
		return fmt.Errorf("%w: a limit of %d locks is negative", ErrInvalidOption, o.Limit)
	}
	return nil
}

func (o *ListOptions) comparison() func(a, b *Lock) int {
	compare := o.Order.comparison()
	if !o.Reverse {
		return compare
	}
	return func(a, b *Lock) int { return compare(b, a) }
}

func (o *ListOptions) wants(resource string) bool {
	return strings.Contains(resource, o.Contains) && (o.Glob == "" || keyreader.Matches(o.Glob, resource))
}

// pattern narrows the Scanner's pattern, if it is a prefix, to what is asked for,
// so that the rest need not leave the server.
func (o *ListOptions) pattern(all string) string {
	prefix := keyreader.Escape(keyreader.LiteralHead(all))
	switch {
	case all != prefix+"*":
		return all
	case o.Glob != "":
		return prefix + o.Glob
	case o.Contains != "":
		return prefix + "*" + keyreader.Escape(o.Contains) + "*"
	}
	return all
}
