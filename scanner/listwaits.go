package scanner

import (
	"context"
	"errors"
	"fmt"
)

// Waits reads who waits, and of the locks only those that are waited for: what
// [Scanner.List] reads with [ListOptions].Waits, for whoever wants to know it often. It
// goes through the keys of each master once, as gently as a listing, within the same
// deadline, and does not wait for a sweep under way.
//
// There are Waits in any case. The error joins those of nodes that could not be read, a
// [*NodeError] each, and ctx's if it has ended. After Close the error is [ErrClosed].
func (s *Scanner) Waits(ctx context.Context) (*Waits, error) {
	if s.life.Err() != nil {
		return &Waits{Graph: graphOf(nil)}, ErrClosed
	}
	outer, within, stop := s.reading(ctx)
	defer stop()
	o := ListOptions{Waits: true}
	if err := o.validate(); err != nil {
		return &Waits{Graph: graphOf(nil)}, err
	}
	l := newLister(&s.cfg, s.sources, o)
	l.open(within)
	waits := readWaits(within, l)
	errs := l.fill(&Listing{})
	if err := context.Cause(outer); err != nil {
		errs = append(errs, fmt.Errorf("scanner: the reading was cut short: %w", err))
	} else {
		errs = append(errs, waits.Err)
	}
	return waits, errors.Join(errs...)
}
