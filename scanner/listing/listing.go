package listing

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// DefaultLimit is the default number of locks in a [Listing].
const DefaultLimit = 1000

// Options select what a [Listing] has. The zero value selects every lock of the Scanner's pattern, the longest TTL
// first.
type Options struct {
	Order    Order  // empty: ByTTL
	Reverse  bool   // reverse order
	Contains string // only resources with this text in their name
	Glob     string // only resources that match this pattern, as Redis matches them
	Waits    bool   // also read the waiters: a second pass over the keys
	Limit    int    // most locks kept, in order; 0: DefaultLimit
}

// Listing is who holds what now. A lock that was acquired or released while the nodes were read may be missing or
// present.
type Listing struct {
	Started time.Time
	Took    time.Duration
	Reading time.Duration // Took without finding the nodes and waiting for those that are silent from the start
	Locks   []Lock
	// Omitted counts locks beyond the limit. From half a million locks on it can be too high, because locks on
	// several nodes may count several times.
	Omitted int64
	// Truncated reports that some node was not read completely: Locks, Omitted and Lock.Of may be too low.
	Truncated bool
	Nodes     []Node
	Waits     *Waits // nil unless Options.Waits is set
}

// Node is the result of reading one server.
type Node struct {
	Node      string // as in [report.NodeReport]
	Locks     int64  // matching locks on the node, roughly
	Truncated bool   // not read completely
	Err       error  // why, unless the context or the deadline ended the reading
}

// Complete replaces zero fields by their defaults. It returns an error for an unknown order or a negative limit.
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

// Comparison returns a function that compares two locks in the chosen order: negative if a comes first.
func (o *Options) Comparison() func(a, b *Lock) int {
	compare := o.Order.comparison()
	if !o.Reverse {
		return compare
	}
	return func(a, b *Lock) int { return compare(b, a) }
}

// Select sorts the locks, and keeps as many as the options, which are complete, ask for. It counts the others.
func (l *Listing) Select(o Options) {
	compare := o.Comparison()
	slices.SortStableFunc(l.Locks, func(a, b Lock) int { return compare(&a, &b) })
	kept := min(len(l.Locks), o.Limit)
	l.Omitted += int64(len(l.Locks) - kept)
	l.Locks = l.Locks[:kept]
}

// Wants reports whether the options ask for a resource.
func (o *Options) Wants(resource string) bool {
	return strings.Contains(resource, o.Contains) && (o.Glob == "" || keyreader.Matches(o.Glob, resource))
}
