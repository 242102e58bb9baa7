package scanner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/list"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// List reads all locks of all nodes and reports who holds each. It reads each lock on all nodes at nearly the same
// time. Like [Scanner.Sweep] it pauses between pages and ends at the deadline. It does not wait for a running sweep.
// It reads values from the masters, because a replica may not have a lock that its master has granted. Options.Limit
// bounds its memory. It reads no more of a value than the length of a lock, and shows no token.
//
// List always returns a listing. The error joins one [*report.NodeError] for each failed node, and ctx's error if ctx
// has ended. Invalid options return [ErrInvalidOption]. After Close the error is [ErrClosed]. Concurrent calls are
// safe.
func (s *Scanner) List(ctx context.Context, o listing.Options) (listing.Listing, error) {
	result := listing.Listing{Started: s.cfg.now()}
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
		result.Waits = l.ReadWaits(within, list.NewWatch(list.Whole()))
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
// [listing.Options].Waits, but cheap enough to call often. It goes through the keys of each master once, pauses between
// pages and ends at the deadline. It does not wait for a running sweep.
//
// Waits always returns a result. The error joins one [*report.NodeError] for each node that could not be read, and
// ctx's error if ctx has ended. After Close the error is [ErrClosed].
func (s *Scanner) Waits(ctx context.Context) (*listing.Waits, error) {
	return s.waits(ctx, list.NewWatch(list.Whole()), nil)
}

// Watch reads who waits again and again, each time with bounded work, whatever the number of keys. It is for one caller
// at a time.
type Watch struct {
	scanner *Scanner
	known   *list.Watch
}

// Watch prepares readings of who waits. A node that does not answer a question within nodeTimeout counts as silent for
// the rest of a reading.
func (s *Scanner) Watch(nodeTimeout time.Duration) *Watch {
	return &Watch{s, list.NewWatch(list.Limits{Timeout: nodeTimeout, Pages: 40, Search: 150 * time.Millisecond, Known: 500,
		Shown: 100, Slots: 500})}
}

// Look is [Scanner.Waits] with bounded work. On each node it searches at most 40 pages of keys for queues, from where
// the last Look ended; [listing.Waits].Searched says how far it has come. Of the 500 queues found first, it reads the 100
// with the most waiters. silent names nodes that are known not to answer, and need not be asked. waitedFor names
// resources that somebody waits for, so that Look reads them before the search reaches them.
//
// A cycle counts as a deadlock if two readings contain it. If the first Look finds a cycle, it reads twice.
func (w *Watch) Look(ctx context.Context, silent, waitedFor []string) (*listing.Waits, error) {
	for _, resource := range waitedFor {
		w.known.Add(keyreader.LiteralHead(w.scanner.cfg.scope.Patterns[0])+resource, w.scanner.cfg.now())
	}
	return w.scanner.waits(ctx, w.known, silent)
}

func (s *Scanner) waits(ctx context.Context, w *list.Watch, silent []string) (*listing.Waits, error) {
	if s.life.Err() != nil {
		return &listing.Waits{Graph: listing.Graph(nil)}, ErrClosed
	}
	if s.system != nil {
		l, err := s.List(ctx, listing.Options{Waits: true})
		return cmp.Or(l.Waits, listing.NoWaits()), err // there are none if the Scanner was closed meanwhile
	}
	outer, within, stop := s.reading(ctx)
	defer stop()
	l := s.lister(listing.Options{Waits: true, Order: listing.ByTTL, Limit: 1})
	l.Connect(within, w, silent)
	waits := l.ReadWaits(within, w)
	errs := l.Fill(&listing.Listing{})
	if err := context.Cause(outer); err != nil {
		errs = append(errs, fmt.Errorf("scanner: reading the queues was interrupted: %w", err))
	} else {
		errs = append(errs, waits.Err)
	}
	return waits, errors.Join(errs...)
}

func (s *Scanner) lister(o listing.Options) *list.Lister {
	return list.New(&list.Settings{Scope: s.cfg.scope, Now: s.cfg.now}, s.sources, o)
}

// reading returns a context that ends with ctx or with the Scanner, and one that also ends at the deadline.
func (s *Scanner) reading(ctx context.Context) (outer, within context.Context, stop func()) {
	outer, cancel := context.WithCancelCause(ctx)
	detach := context.AfterFunc(s.life, func() { cancel(ErrClosed) })
	within, end := context.WithTimeoutCause(outer, s.cfg.deadline, report.ErrDeadline)
	return outer, within, func() {
		end()
		detach()
		cancel(nil)
	}
}

// ListACL returns the ACL rules that [Scanner.List] and [Scanner.Sweep] need, besides the user's password, keys
// (%R~lock:* or ~lock:*) and "on". Further rules depend on the servers:
//
//   - With several nodes, orphans among them, also %R~lockscope:life.
//   - Before Redis 7 there is no eval_ro: leave out eval_ro and evalsha_ro and add evalsha and eval. Without either,
//     pages are read by plain commands.
//   - A cluster client needs cluster|slots, cluster|nodes and command. Only sweeps need info.
//   - Without hrandfield, which Redis has since 6.2, many readers of a read/write lock whose key never expires are a
//     [inspect.ForeignType] instead of [inspect.NoTTL].
//   - From Redis 7.2 on, +client|no-touch keeps a look at a value from counting as use of the key (OBJECT IDLETIME).
//     On older servers it counts.
func ListACL() []string {
	return []string{
		"+client|setname", "+info", "+scan", "+evalsha_ro", "+eval_ro",
		"+pttl", "+type", "+getrange", "+strlen", "+exists", "+hlen", "+memory|usage", "+hgetall",
		"+hrandfield",
		"+cluster|slots", "+cluster|nodes", "+command",
	}
}
