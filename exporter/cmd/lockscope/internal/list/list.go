// Package list is lockscope list: holders and waiters of all systems, side by side.
package list

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

const listHelp = `Show who holds what now and who waits for it. Reads locks of any library and changes nothing.

Several servers given with --redis are the nodes of one Redlock: a lock is held while a majority of
them agrees.`

const listExample = `  lockscope list --redis r1:6379,r2:6379,r3:6379
  lockscope list --redis r1:6379 --filter 'order:*' --sort age --limit 20
  lockscope list --postgres postgres://orders@db/shop --etcd e1:2379,e2:2379,e3:2379`

type listFlags struct {
	servers  servers.Flags
	output   ui.Format
	prefixes []string
	patterns []string
	waiters  bool
	slots    bool
	pageSize int
	pause    time.Duration
	selection
}

// Command is lockscope list.
func Command(a *ui.App) *cobra.Command {
	f := &listFlags{}
	cmd := ui.Page{
		Everyday: []string{
			"redis", "redis-file", "postgres", "etcd", "zookeeper", "prefix", "pattern",
			"filter", "sort", "reverse", "limit", "waiters", "slots", "output",
		},
		Exit:   "0, or 2 if a server could not be read completely",
		Topics: []string{"locks", "json", "connection"},
	}.On(&cobra.Command{
		Use: "list", Short: "Show who holds what now, and who waits for it", Long: listHelp, Example: listExample,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), a) },
	})
	set := cmd.Flags()
	f.servers.Register(set)
	set.StringArrayVar(&f.prefixes, "prefix", nil,
		"read keys that begin with this `text` (default "+lock.DefaultPrefix+"). Repeat it for several. "+
			"With --pattern there is no default. In PostgreSQL all locks are read, and names are shown without this "+
			"prefix")
	set.StringArrayVar(&f.patterns, "pattern", nil,
		"read keys that match this `glob` of Redis. Repeat it for several. Each one costs a pass through all keys")
	set.StringVar(&f.filter, "filter", "",
		"only resources whose name contains this `text`. With a *, ? or [ it is a pattern for the whole name")
	set.StringVar(&f.sort, "sort", string(listing.ByTTL),
		"`order`: ttl (longest first), age (oldest first) or resource")
	set.BoolVar(&f.reverse, "reverse", false, "reverse the order")
	set.BoolVar(&f.waiters, "waiters", false, "also list the waiting processes")
	set.BoolVar(&f.slots, "slots", false, "give each slot of a semaphore that is in use a row, with its holder")
	set.IntVar(&f.limit, "limit", listing.DefaultLimit, "locks to show; the others are only counted")
	f.output.Register(set)
	set.IntVar(&f.pageSize, "page-size", scanner.DefaultPageSize,
		"keys per SCAN call (COUNT). The server answers nobody else meanwhile")
	set.DurationVar(&f.pause, "pause", scanner.DefaultPause, "pause between two pages of a server")
	set.DurationVar(&f.deadline, "deadline", scanner.DefaultDeadline,
		"longest time to spend reading. Then list shows what it has read")
	ui.Group(set, ui.Search, "prefix", "pattern", "filter")
	ui.Group(set, ui.Result, "sort", "reverse", "waiters", "slots", "limit")
	ui.Group(set, ui.Load, "page-size", "pause", "deadline")
	return cmd
}

func (f *listFlags) run(ctx context.Context, a *ui.App) error {
	if err := f.validate(); err != nil {
		return err
	}
	opened, err := f.servers.Open(a, f.prefixes)
	if err != nil {
		return err
	}
	defer opened.Close()
	var reads []reading
	if nodes := opened.Nodes; len(nodes) > 0 {
		s, err := f.scanner(nodes)
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		reads = append(reads, f.readRedis(s, nodes))
	}
	for _, b := range opened.Others {
		reads = append(reads, f.readSystem(b))
	}
	l, err := f.read(ctx, reads)
	return errors.Join(err, writeList(a, f.output, f.waiters, f.slots, l))
}

func (f *listFlags) validate() error {
	switch listing.Order(f.sort) {
	case listing.ByTTL, listing.ByAge, listing.ByResource:
	default:
		return fmt.Errorf("--sort: unknown order %q: use ttl, age or resource", f.sort)
	}
	if f.limit < 0 {
		return fmt.Errorf("--limit %d is negative", f.limit)
	}
	return nil
}

func (f *listFlags) scanner(nodes []servers.Node) (*scanner.Scanner, error) {
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	return scanner.New(servers.Clients(nodes), append(opts, scanner.WithNodeNames(servers.Names(nodes)...))...)
}

// readRedis is the reading of all nodes of one Redlock.
func (f *listFlags) readRedis(s *scanner.Scanner, nodes []servers.Node) reading {
	return func(ctx context.Context) (part, error) {
		all, err := s.List(ctx, f.listOptions())
		if err == nil && all.Truncated {
			err = errListTruncated
		}
		w := all.Waits
		if w == nil {
			w = listing.NoWaits()
		}
		return part{system: servers.Redis, listing: all, waits: waits{w},
			coverage: coverageOf(ctx, nodes, all)}, err
	}
}

func (f *listFlags) options() ([]scanner.Option, error) {
	opts := []scanner.Option{
		scanner.WithPageSize(f.pageSize), scanner.WithPause(f.pause), scanner.WithDeadline(f.deadline),
		scanner.WithConfirmAfter(0),
	}
	globs, err := config.KeyGlobs(f.prefixes, f.patterns)
	if err != nil {
		return nil, err
	}
	return append(opts, scanner.WithPatterns(globs...)), nil
}

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
		p.inUse = listing.SlotsInUse(p.listing.Locks) // before any lock is left out
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
