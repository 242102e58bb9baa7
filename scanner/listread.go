package scanner

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockscope/lockscope/scanner/internal/server"
)

// lister makes one listing.
//
// Each source is gone through by a goroutine of its own, its pass. For every page,
// a pass asks the other sources about the same keys, so that a lock is seen on all
// of them at nearly one time; the first pass that comes upon a lock tells it.
type lister struct {
	*run
	options ListOptions
	prefix  string
	top     *top
	told    *told
	sources []*listed
}

// listed is a source in one listing.
type listed struct {
	source  *source
	targets []*target    // the listing's own, as sweeps use theirs at the same time
	first   []*pageReply // of each target; nil if it failed

	silent atomic.Bool // it does not answer, and is asked no more

	mu    sync.Mutex
	nodes []ListedNode // of the targets; of the source if it has none
	errs  []error
}

func newLister(s *Scanner, o ListOptions) *lister {
	cfg := s.cfg
	cfg.pattern = o.pattern(s.cfg.pattern)
	l := &lister{
		// A Scanner that reads pages by another pattern, and does nothing else.
		run:     &run{Scanner: &Scanner{cfg: cfg, scripts: s.scripts}, mixed: matchesHelpers(cfg.pattern)},
		options: o,
		prefix:  literalHead(s.cfg.pattern),
		top:     newTop(o.comparison(), o.Limit),
		told:    newTold(maxTold),
	}
	for _, src := range s.sources {
		l.sources = append(l.sources, &listed{source: src})
	}
	return l
}

// everything asks for the values of all locks of a page.
func everything(cursor string) pageRequest {
	return pageRequest{cursor: cursor, first: 1, last: math.MaxInt32}
}

// open finds the masters and reads the first page of each, which tells how pages
// can be read there.
func (l *lister) open(ctx context.Context) {
	l.eachSource(func(_ int, src *listed) {
		var err error
		if src.targets, err = src.source.ownTargets(ctx); err != nil {
			src.nodes = []ListedNode{{Node: src.source.name}}
			src.fail(ctx, 0, "find masters", err)
			return
		}
		for i, t := range src.targets {
			src.nodes = append(src.nodes, ListedNode{Node: t.name})
			page, err := l.page(ctx, t, everything(firstCursor))
			if err != nil {
				src.fail(ctx, i, "read page", err)
				src.first = append(src.first, nil)
				continue
			}
			src.first = append(src.first, &page)
		}
	})
}

// ownTargets is [source.targets] without the sweeps' knowledge of them.
func (s *source) ownTargets(ctx context.Context) ([]*target, error) {
	own := &source{
		name: s.name, client: s.client, cluster: s.cluster, replica: s.replica, db: s.db,
		known: make(map[string]*target),
	}
	return own.targets(ctx)
}

func (l *lister) eachSource(do func(i int, src *listed)) {
	slots := make(chan struct{}, nodesAtOnce)
	var wg sync.WaitGroup
	for i, src := range l.sources {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i, src)
		})
	}
	wg.Wait()
}

// fail takes down what cut a target's pass off. A source that fails is asked no
// more, lest each page waits for it again.
func (s *listed) fail(ctx context.Context, node int, op string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.nodes[node]
	n.Truncated = true
	if ctx.Err() != nil || n.Err != nil {
		return
	}
	n.Err = &NodeError{Node: n.Node, Op: op, Err: server.Scrub(err)}
	s.errs = append(s.errs, n.Err)
	if !server.IsReply(err) {
		s.silent.Store(true)
	}
}

func (l *lister) readAll(ctx context.Context) {
	passes := make([]*listPass, len(l.sources))
	for i := range passes {
		passes[i] = &listPass{lister: l, index: i, peers: l.peers()}
	}
	l.eachSource(func(i int, src *listed) {
		p := passes[i]
		for at, t := range src.targets {
			if page := src.first[at]; page != nil {
				src.first[at] = nil
				p.read(ctx, src, at, t, *page)
			}
		}
	})
}

// peers are targets for one pass to look at: what looking leaves in a target is
// not for several goroutines.
func (l *lister) peers() [][]*target {
	peers := make([][]*target, len(l.sources))
	for i, src := range l.sources {
		for _, t := range src.targets {
			own := *t
			peers[i] = append(peers[i], &own)
		}
	}
	return peers
}

// listPass goes through one source.
type listPass struct {
	*lister
	index int
	peers [][]*target
}

// read goes on from a target's first page to its last.
func (p *listPass) read(ctx context.Context, src *listed, at int, t *target, page pageReply) {
	for {
		src.count(at, p.take(ctx, page.values))
		if ctx.Err() == nil && page.next == firstCursor {
			return
		}
		if !pause(ctx, p.cfg.pause) {
			src.fail(ctx, at, "read page", context.Cause(ctx))
			return
		}
		var err error
		if page, err = p.page(ctx, t, everything(page.next)); err != nil {
			src.fail(ctx, at, "read page", err)
			return
		}
	}
}

func (s *listed) count(node int, locks int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node].Locks += locks
}

// take offers the locks of a page that nobody has told yet, and returns how many of
// the page were asked for.
func (p *listPass) take(ctx context.Context, page []value) (wanted int64) {
	var found []*candidate
	for _, v := range page {
		if v.kind == kindNone || helperKey(v.key) || !p.options.wants(p.resource(v.key)) {
			continue
		}
		wanted++
		if p.told.first(v.key) {
			found = append(found, &candidate{own: v})
		}
	}
	p.lookAround(ctx, found)
	for _, c := range found {
		if lock, ok := newLock(c.looks); ok {
			lock.Resource = p.resource(c.own.key)
			p.top.offer(lock)
		}
	}
	return wanted
}

// resource is the key itself if it is all prefix.
func (l *lister) resource(key string) string {
	if len(key) <= len(l.prefix) {
		return key
	}
	return key[len(l.prefix):]
}

// fill writes the result, and returns the nodes' errors.
func (l *lister) fill(listing *Listing) (errs []error) {
	listing.Locks, listing.Omitted = l.top.result()
	for _, src := range l.sources {
		listing.Nodes = append(listing.Nodes, src.nodes...)
		errs = append(errs, src.errs...)
	}
	listing.Truncated = slices.ContainsFunc(listing.Nodes, func(n ListedNode) bool { return n.Truncated })
	return errs
}
