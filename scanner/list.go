package scanner

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/scanner/internal/list"
	"github.com/lockscope/lockscope/scanner/listing"
)

// What a listing is made of; package listing has it all.
type (
	// Listing is who holds what now, or nearly so: a lock that was taken or released
	// while the nodes were read may or may not be there.
	Listing = listing.Listing
	// ListOptions say what a [Listing] has. The zero value is every lock of the
	// Scanner's pattern, those that live longest first.
	ListOptions = listing.Options
	// ListedNode is what reading one server told.
	ListedNode = listing.Node
	// Lock is who holds one lock, over all nodes that answered. A node is here what
	// [New] was given: a server, or a cluster as a whole.
	Lock = listing.Lock
	// Order says which locks of a [Listing] come first, and so which are kept if there
	// are more than its limit.
	Order = listing.Order
	// Waits is who waits for whom, as the queues of lockscope's locks tell: other libraries
	// have none.
	Waits = listing.Waits
	// WaitedFor is a lock with a queue.
	WaitedFor = listing.WaitedFor
)

// The orders of a Listing.
const (
	ByTTL      = listing.ByTTL      // longest first, those that never expire before all
	ByAge      = listing.ByAge      // oldest first, those of unknown age last
	ByResource = listing.ByResource // by the bytes of the name
)

const (
	// DefaultListLimit is how many locks a [Listing] keeps.
	DefaultListLimit = listing.DefaultLimit
	// MaxQueued bounds how many processes of a queue a [WaitedFor] names.
	MaxQueued = listing.MaxQueued
	// MaxWaitedFor bounds how many locks a [Waits] has.
	MaxWaitedFor = listing.MaxWaitedFor
)

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
	result := Listing{Started: s.cfg.now()}
	if err := o.Complete(); err != nil {
		return result, fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	if s.life.Err() != nil {
		return result, ErrClosed
	}
	outer, within, stop := s.reading(ctx)
	defer stop()

	l := s.lister(o)
	l.Open(within)
	began := s.cfg.now()
	l.ReadLocks(within)
	if o.Waits {
		result.Waits = l.ReadWaits(within)
	}
	errs := l.Fill(&result)
	if err := context.Cause(outer); err != nil {
		errs = append(errs, fmt.Errorf("scanner: the listing was interrupted: %w", err))
	}
	now := s.cfg.now()
	result.Took, result.Reading = now.Sub(result.Started), now.Sub(began)
	return result, errors.Join(errs...)
}

// Waits reads who waits, and of the locks only those that are waited for: what
// [Scanner.List] reads with [ListOptions].Waits, for whoever wants to know it often. It
// goes through the keys of each master once, as gently as a listing, within the same
// deadline, and does not wait for a sweep under way.
//
// There are Waits in any case. The error joins those of nodes that could not be read, a
// [*NodeError] each, and ctx's if it has ended. After Close the error is [ErrClosed].
func (s *Scanner) Waits(ctx context.Context) (*Waits, error) {
	if s.life.Err() != nil {
		return &Waits{Graph: listing.Graph(nil)}, ErrClosed
	}
	outer, within, stop := s.reading(ctx)
	defer stop()
	o := ListOptions{Waits: true}
	if err := o.Complete(); err != nil {
		return &Waits{Graph: listing.Graph(nil)}, fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	l := s.lister(o)
	l.Open(within)
	waits := l.ReadWaits(within)
	errs := l.Fill(&Listing{})
	if err := context.Cause(outer); err != nil {
		errs = append(errs, fmt.Errorf("scanner: reading the queues was interrupted: %w", err))
	} else {
		errs = append(errs, waits.Err)
	}
	return waits, errors.Join(errs...)
}

func (s *Scanner) lister(o ListOptions) *list.Lister {
	return list.New(&list.Settings{Scope: s.cfg.scope, Now: s.cfg.now}, s.sources, o)
}

// reading returns a context that ends with ctx and with the Scanner, and one that ends
// at the deadline, too.
func (s *Scanner) reading(ctx context.Context) (outer, within context.Context, stop func()) {
	outer, cancel := context.WithCancelCause(ctx)
	detach := context.AfterFunc(s.life, func() { cancel(ErrClosed) })
	within, end := context.WithTimeoutCause(outer, s.cfg.deadline, ErrDeadline)
	return outer, within, func() {
		end()
		detach()
		cancel(nil)
	}
}
