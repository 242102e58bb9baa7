package list

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// reading asks one system. There is a part whatever the error is.
type reading func(context.Context) (part, error)

// selection says which locks are shown, and in what order.
type selection struct {
	sort, filter string
	reverse      bool
	limit        int
	deadline     time.Duration
}

var errListTruncated = errors.New("some servers were not read completely, so locks are missing: raise --deadline, " +
	"or see the errors")

// read asks all systems at the same time.
func (s *selection) read(ctx context.Context, reads []reading) (*overview, error) {
	l := &overview{started: time.Now(), parts: make([]*part, len(reads))}
	errs := make([]error, len(reads))
	var all sync.WaitGroup
	for i, read := range reads {
		all.Go(func() {
			p, err := read(ctx)
			l.parts[i], errs[i] = &p, err
		})
	}
	all.Wait()
	l.took = time.Since(l.started)
	if len(l.parts) == 1 && l.parts[0].system == servers.Redis {
		l.started, l.took = l.parts[0].listing.Started, l.parts[0].listing.Took
	}
	s.merge(l)
	return l, errors.Join(errs...)
}

// merge makes one list of all parts, in one order and of one length.
func (s *selection) merge(l *overview) {
	wanted := s.listOptions()
	for _, p := range l.parts {
		p.wanted = wanted.Wants
		p.countSlots()
		for _, k := range p.listing.Locks {
			l.locks = append(l.locks, entry{k, p})
		}
		l.omitted += p.listing.Omitted
		l.truncated = l.truncated || p.listing.Truncated
	}
	compare := wanted.Comparison()
	slices.SortStableFunc(l.locks, func(a, b entry) int { return compare(&a.Lock, &b.Lock) })
	if limit := cmp.Or(s.limit, listing.DefaultLimit); len(l.locks) > limit {
		l.omitted += int64(len(l.locks) - limit)
		l.locks = l.locks[:limit]
	}
}

// readSystem reads another system than Redis, and keeps what is asked for.
func (s *selection) readSystem(in inspect.Inspector) reading {
	return func(ctx context.Context) (part, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, s.deadline, errListTruncated)
		defer cancel()
		wanted := s.listOptions()
		locks, w, err := listing.Inspect(ctx, in, &waitgraph.Watch{})
		locks = slices.DeleteFunc(locks, func(l listing.Lock) bool { return !wanted.Wants(l.Resource) })
		w.Locks = slices.DeleteFunc(w.Locks, func(q listing.WaitedFor) bool { return !wanted.Wants(q.Resource) })
		p := part{system: in.System(), waits: waits{w}}
		p.listing = listing.Listing{Locks: locks, Truncated: err != nil}
		p.listing.Nodes = []listing.Node{{Node: in.Address(), Locks: int64(len(locks)), Truncated: err != nil,
			Err: err}}
		return p, err
	}
}

// listOptions are those of a Scanner.
func (s *selection) listOptions() listing.Options {
	o := listing.Options{Order: listing.Order(s.sort), Reverse: s.reverse, Limit: s.limit, Waits: true}
	if strings.ContainsAny(s.filter, "*?[") {
		o.Glob = s.filter
	} else {
		o.Contains = s.filter
	}
	return o
}
