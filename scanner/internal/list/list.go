// Package list reads who holds which lock, over all nodes, and who waits for it. A [Lister] is one listing (list.go). A
// pass goes through the keys of one source and asks the others (pass.go). lock.go combines their answers about a lock,
// and top.go keeps the first locks in order. Queues are found and read apart (waits.go); a [Watch] does that again and
// again, with bounded work each time (watch.go).
package list

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// Lister makes one listing. Open comes first, then ReadLocks and ReadWaits, and at last Fill; for waiters alone,
// Connect and ReadWaits do.
//
// Each source has a goroutine, its pass. For every page, a pass asks the other sources about the same keys, so that a
// lock is seen on all of them at nearly the same time. The first pass that finds a lock lists it.
type Lister struct {
	cfg     *Settings
	query   keyreader.Query
	options listing.Options
	globs   []string // what keys are looked for by, in the order of the passes
	top     *top
	known   *keySet
	sources []*listedSource
}

// listedSource is a source in one listing.
type listedSource struct {
	source  *node.Source
	masters []*listedMaster

	silent atomic.Bool // it does not answer, and is asked no more

	mu    sync.Mutex
	nodes []listing.Node // of the masters; of the source if it has none
	errs  []error
}

// listedMaster is a master in one listing. Only its source's goroutine uses its reader.
type listedMaster struct {
	node.Connection
	reader *keyreader.Reader
	first  *keyreader.Page // nil if it failed
}

// New prepares a listing of the sources. The options must be complete.
func New(cfg *Settings, sources []*node.Source, o listing.Options) *Lister {
	l := &Lister{
		cfg:     cfg,
		options: o,
		top:     newTop(o.Comparison(), o.Limit),
		known:   newKeySet(maxListed),
	}
	for _, pattern := range cfg.Scope.Patterns {
		l.globs = append(l.globs, narrowed(&o, pattern))
	}
	l.query = keyreader.Query{Pattern: l.globs[0], Count: cfg.Scope.PageSize, Limit: keyreader.NoLimit}
	for _, src := range sources {
		l.sources = append(l.sources, &listedSource{source: src})
	}
	return l
}

// Open finds the masters and reads the first page of each, which shows how pages can be read there.
func (l *Lister) Open(ctx context.Context) {
	l.eachSource(func(_ int, src *listedSource) {
		l.connect(ctx, 0, src, nil)
		for i, m := range src.masters {
			page, err := m.reader.Page(ctx, keyreader.FirstCursor, keyreader.All())
			if err != nil {
				src.fail(ctx, i, "read page", err)
				continue
			}
			m.first = &page
		}
	})
}

// Connect finds the masters, for a Watch alone. Of silent sources it is known that they do not answer.
func (l *Lister) Connect(ctx context.Context, w *Watch, silent []string) {
	l.eachSource(func(_ int, src *listedSource) {
		l.connect(ctx, w.limits.Timeout, src, w.able)
		src.silent.Store(src.silent.Load() || slices.Contains(silent, src.source.Name))
	})
}

// connect finds the masters of a source within a time; 0 is the connection's.
func (l *Lister) connect(ctx context.Context, timeout time.Duration, src *listedSource,
	able map[string]keyreader.Capability) {
	within, cancel := stepOf(ctx, timeout)
	defer cancel()
	found, err := src.source.Connections(within)
	if err != nil {
		src.nodes = []listing.Node{{Node: src.source.Name}}
		src.fail(ctx, 0, "find masters", err)
		return
	}
	for _, c := range found {
		can, known := able[c.Node]
		if !known {
			can = l.cfg.Scope.Capability
		}
		src.nodes = append(src.nodes, listing.Node{Node: c.Node})
		src.masters = append(src.masters, &listedMaster{Connection: c, reader: keyreader.New(c.Master, c.Pages, l.query, can)})
	}
}

func (l *Lister) eachSource(do func(i int, src *listedSource)) {
	node.Each(len(l.sources), node.AtOnce, func(i int) { do(i, l.sources[i]) })
}

// fail records what interrupted a master's pass. A source that fails is not asked again, because each page would wait
// for it.
func (s *listedSource) fail(ctx context.Context, node int, op string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.nodes[node]
	n.Truncated = true
	if ctx.Err() != nil || n.Err != nil {
		return
	}
	n.Err = &report.NodeError{Node: n.Node, Op: op, Err: redisconn.Scrub(err)}
	s.errs = append(s.errs, n.Err)
	if !redisconn.IsReply(err) {
		s.silent.Store(true)
	}
}

func (s *listedSource) count(node int, locks int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node].Locks += locks
}

// Fill writes the result, and returns the errors of the nodes.
func (l *Lister) Fill(to *listing.Listing) (errs []error) {
	to.Locks, to.Omitted = l.top.result()
	for _, src := range l.sources {
		to.Nodes = append(to.Nodes, src.nodes...)
		errs = append(errs, src.errs...)
	}
	to.Truncated = slices.ContainsFunc(to.Nodes, func(n listing.Node) bool { return n.Truncated })
	return errs
}

// resource returns the key without the prefix of its pattern: of several, the shortest. If nothing else is left, it
// returns the key.
func (l *Lister) resource(key string) string {
	cut := len(key)
	for _, pattern := range l.cfg.Scope.Patterns {
		if head := len(keyreader.LiteralHead(pattern)); head < cut && keyreader.Matches(pattern, key) {
			cut = head
		}
	}
	if cut == len(key) {
		return key
	}
	return key[cut:]
}

// seenBefore reports whether the pass of an earlier pattern has the key.
func (l *Lister) seenBefore(key string, pass int) bool {
	return slices.ContainsFunc(l.globs[:pass], func(p string) bool { return keyreader.Matches(p, key) })
}

// narrowed narrows the Scanner's pattern, if it is a prefix, to the requested locks, so that the others stay on the
// server.
func narrowed(o *listing.Options, all string) string {
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

// Settings are common to all listings.
type Settings struct {
	Scope keyreader.Scope
	Now   func() time.Time
}
