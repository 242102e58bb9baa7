package scanner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
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
	Limit    int    // locks kept, the first ones of the order; 0: DefaultListLimit
}

// Listing is who holds what now, or nearly so: a lock that was taken or released
// while the nodes were read may or may not be there.
type Listing struct {
	Started time.Time
	Took    time.Duration
	Locks   []Lock
	// Omitted counts locks beyond the limit. From half a million locks on it can be
	// too high: those that several nodes have may count several times.
	Omitted int64
	// Truncated says that not every node was read to its end: locks may be missing
	// from Locks and Omitted, and nodes from Of.
	Truncated bool
	Nodes     []ListedNode
}

// ListedNode is what reading one server told.
type ListedNode struct {
	Node      string // as in [NodeReport]
	Locks     int64  // that it has of those asked for, about
	Truncated bool   // not read to its end
	Err       error  // why, if that was not for the context or the deadline
}

// List reads all locks of all nodes, each lock on all nodes at nearly one time, and
// tells who holds it. It reads pages as [Scanner.Sweep] does, as gently, within the
// same deadline, but does not wait for a sweep under way; and the values from the
// masters, for a replica may not have the lock that its master has granted. Its
// memory is bounded by the limit. It never transfers whole values, and shows no
// token.
//
// There is a listing in any case. The error joins those of the nodes, a
// [*NodeError] each, and ctx's if it has ended. Options that make no sense match
// [ErrInvalidOption]; after Close the error is [ErrClosed].
func (s *Scanner) List(ctx context.Context, o ListOptions) (Listing, error) {
	listing := Listing{Started: s.cfg.now()}
	if err := o.validate(); err != nil {
		return listing, err
	}
	if s.life.Err() != nil {
		return listing, ErrClosed
	}
	outer, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(ErrClosed) })()
	within, stop := context.WithTimeoutCause(outer, s.cfg.deadline, ErrDeadline)
	defer stop()

	l := newLister(s, o)
	l.open(within)
	l.readAll(within)
	errs := l.fill(&listing)
	if err := context.Cause(outer); err != nil {
		errs = append(errs, fmt.Errorf("scanner: the listing was cut short: %w", err))
	}
	listing.Took = s.cfg.now().Sub(listing.Started)
	return listing, errors.Join(errs...)
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
	return strings.Contains(resource, o.Contains) && (o.Glob == "" || globMatch(o.Glob, resource))
}

// pattern narrows the Scanner's pattern, if it is a prefix, to what is asked for,
// so that the rest need not leave the server.
func (o *ListOptions) pattern(all string) string {
	prefix := escapeGlob(literalHead(all))
	switch {
	case all != prefix+"*":
		return all
	case o.Glob != "":
		return prefix + o.Glob
	case o.Contains != "":
		return prefix + "*" + escapeGlob(o.Contains) + "*"
	}
	return all
}
