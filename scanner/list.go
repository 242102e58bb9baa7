package scanner

import (
	"context"
	"errors"
	"fmt"
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
	listing := Listing{Started: s.cfg.now()}
	if err := o.validate(); err != nil {
		return listing, err
	}
	if s.life.Err() != nil {
		return listing, ErrClosed
	}
	outer, within, stop := s.reading(ctx)
	defer stop()

	l := newLister(&s.cfg, s.sources, o)
	l.open(within)
	began := s.cfg.now()
	readPasses(within, l)
	if o.Waits {
		listing.Waits = readWaits(within, l)
	}
	errs := l.fill(&listing)
	if err := context.Cause(outer); err != nil {
		errs = append(errs, fmt.Errorf("scanner: the listing was cut short: %w", err))
	}
	now := s.cfg.now()
	listing.Took, listing.Reading = now.Sub(listing.Started), now.Sub(began)
	return listing, errors.Join(errs...)
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
