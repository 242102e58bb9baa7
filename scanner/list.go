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
	// Listing is who holds what now. A lock that was acquired or released while the nodes were read may be missing or
	// present.
	Listing = listing.Listing
	// ListOptions select what a [Listing] has. The zero value selects every lock of the Scanner's pattern, the
	// longest TTL first.
	ListOptions = listing.Options
	// ListedNode is the result of reading one server.
	ListedNode = listing.Node
	// Lock is one lock over all nodes that answered. A node here is one client given to [New]: a server, or a cluster
	// as a whole.
	Lock = listing.Lock
	// Order sorts the locks of a [Listing]. The first ones are kept if there are more than its limit.
	Order = listing.Order
	// Waits is who waits for whom, as read from the queues of lockscope's locks. Other libraries have no queues.
	Waits = listing.Waits
	// WaitedFor is a lock with a queue.
	WaitedFor = listing.WaitedFor
)

// The orders of a Listing.
const (
	ByTTL      = listing.ByTTL      // longest TTL first, after those that never expire
	ByAge      = listing.ByAge      // oldest first, unknown age last
	ByResource = listing.ByResource // by the bytes of the name
)

const (
	// DefaultListLimit is the default number of locks in a [Listing].
	DefaultListLimit = listing.DefaultLimit
	// MaxQueued is the largest number of processes that a [WaitedFor] names.
	MaxQueued = listing.MaxQueued
	// MaxWaitedFor is the largest number of locks in a [Waits].
	MaxWaitedFor = listing.MaxWaitedFor
)

// List reads all locks of all nodes and reports who holds each. It reads each lock on all nodes at nearly the same
// time. Like [Scanner.Sweep] it pauses between pages and ends at the deadline. It does not wait for a running sweep.
// It reads values from the masters, because a replica may not have a lock that its master has granted. Options.Limit
// bounds its memory. It never transfers whole values and shows no token.
//
// List always returns a listing. The error joins one [*report.NodeError] for each failed node, and ctx's error if ctx has
// ended. Invalid options return [ErrInvalidOption]. After Close the error is [ErrClosed]. Concurrent calls are safe.
func (s *Scanner) List(ctx context.Context, o ListOptions) (Listing, error) {
	result := Listing{Started: s.cfg.now()}
	if err := o.Complete(); err != nil {
		return result, fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	if s.life.Err() != nil {
		return result, ErrClosed
	}
	if s.system != nil {
		return s.listSystem(ctx, o)
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

// Waits reads who waits, and only those locks that somebody waits for: the same as [Scanner.List] with
// [ListOptions].Waits, but cheap enough to call often. It goes through the keys of each master once, pauses between
// pages and ends at the deadline. It does not wait for a running sweep.
//
// Waits always returns a result. The error joins one [*report.NodeError] for each node that could not be read, and ctx's
// error if ctx has ended. After Close the error is [ErrClosed].
func (s *Scanner) Waits(ctx context.Context) (*Waits, error) {
	if s.life.Err() != nil {
		return &Waits{Graph: listing.Graph(nil)}, ErrClosed
	}
	if s.system != nil {
		l, err := s.List(ctx, ListOptions{Waits: true})
		return l.Waits, err
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

// reading returns a context that ends with ctx or with the Scanner, and one that also ends at the deadline.
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
