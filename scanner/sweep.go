package scanner

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

// nodesAtOnce bounds how many nodes are read at a time, and so the memory for their
// pages.
const nodesAtOnce = 8

// sweep is one sweep: the pages of all nodes, and then the second look.
type sweep struct {
	cfg     *config
	sources []*source
	memory  *memory
	ledger  *ledger
	started time.Time

	orphans      *orphans
	confirmation *confirmation
	values       *values

	nodes []*nodeSweep
	lost  []NodeReport // of sources whose masters could not be found
	errs  []error
}

func newSweep(cfg *config, sources []*source, m *memory, l *ledger, before *proof) *sweep {
	o := newOrphans(sources)
	return &sweep{
		cfg: cfg, sources: sources, memory: m, ledger: l, started: cfg.now(),
		orphans: o, confirmation: &confirmation{cfg: cfg, ledger: l, orphans: o}, values: newValues(l.all(), before),
	}
}

// run looks at all there is, until ctx or the deadline ends. drop is told which
// nodes of earlier sweeps are no more.
func (w *sweep) run(ctx context.Context, drop func(gone func(node string) bool)) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.cfg.deadline, ErrDeadline)
	defer cancel()
	w.ledger.begin()
	gone := w.findNodes(ctx)
	drop(gone)
	if w.cfg.checks[Orphan] {
		w.orphans.prove(ctx, w.cfg.oneRedlock)
	}
	w.readAll(ctx)
	w.rehome()
	w.confirm(ctx)
}

// findNodes asks all clusters at once for their masters. It returns which nodes are
// no more: of a cluster that did not answer nothing is known to be gone.
func (w *sweep) findNodes(ctx context.Context) (gone func(node string) bool) {
	found, errs := make([][]connection, len(w.sources)), make([]error, len(w.sources))
	var wg sync.WaitGroup
	for i, src := range w.sources {
		wg.Go(func() { found[i], errs[i] = src.connections(ctx) })
	}
	wg.Wait()
	kept := make(map[string]bool)
	for i, src := range w.sources {
		if errs[i] != nil {
			kept[src.name] = true
			for _, name := range w.lose(ctx, src, errs[i]) {
				kept[name] = true
			}
			continue
		}
		for _, c := range found[i] {
			kept[c.node] = true
			w.nodes = append(w.nodes, newNodeSweep(c, w.cfg, w.memory.recall(&c, w.cfg), w.ledger, w.orphans, w.values))
		}
		w.memory.keep(src, found[i])
	}
	return func(node string) bool { return !kept[node] }
}

// lose reports the masters a cluster had when it last answered, or the cluster, and
// returns their names.
func (w *sweep) lose(ctx context.Context, src *source, err error) (names []string) {
	w.orphans.markDown(src)
	names = w.memory.nodes(src)
	for _, name := range names {
		rep := newNodeReport(name)
		rep.fail(ctx, "find masters", err)
		w.lost = append(w.lost, rep)
		if rep.Err != nil {
			w.errs = append(w.errs, rep.Err)
		}
	}
	return names
}

// readAll reads the nodes' pages, for a part of the sweep's time.
func (w *sweep) readAll(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.cfg.pagesUntil(), ErrDeadline)
	defer cancel()
	w.each(func(n *nodeSweep) { n.read(ctx) })
}

// rehome finds the nodes that findings of clusters are on now: after a failover, or when
// slots were moved, it is another one than the sweep before.
func (w *sweep) rehome() {
	for _, src := range w.sources {
		if src.cluster == nil {
			continue
		}
		w.ledger.rehome(src.name, func(f *Finding) string {
			for _, n := range w.nodes {
				if n.source == src && n.report.Err == nil && n.view.Own.Has(hashslot.Of(f.Key)) {
					return n.node
				}
			}
			return ""
		})
	}
}

// confirm looks again at what is wrong, when that has been there for the grace.
func (w *sweep) confirm(ctx context.Context) {
	if wait := w.confirmation.grace(w.nodes); wait > 0 && !w.confirmation.attend(ctx, w.nodes, wait) {
		for _, n := range w.nodes {
			n.report.Truncated = true
		}
		return
	}
	if ctx.Err() != nil {
		return
	}
	w.each(func(n *nodeSweep) { w.confirmation.look(ctx, n) })
}

// each does something with all nodes, several at a time, and waits.
func (w *sweep) each(do func(n *nodeSweep)) {
	slots := make(chan struct{}, nodesAtOnce)
	var wg sync.WaitGroup
	for _, n := range w.nodes {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(n)
		})
	}
	wg.Wait()
	for _, n := range w.nodes {
		if err := n.report.Err; err != nil && !slices.Contains(w.errs, err) {
			w.errs = append(w.errs, err)
		}
	}
}

// report puts together what is known when all looks are done.
func (w *sweep) report() Report {
	report := Report{Started: w.started, Took: w.cfg.now().Sub(w.started)}
	report.Findings, report.Pending, report.Resolved = w.ledger.lists()
	for _, n := range w.nodes {
		n.report.Calls += n.reader.Calls()
		n.report.Redirected = n.reader.Redirected()
		report.Nodes = append(report.Nodes, n.report)
	}
	report.Nodes = append(report.Nodes, w.lost...)
	byName := make(map[string]*NodeReport, len(report.Nodes))
	for i := range report.Nodes {
		byName[report.Nodes[i].Node] = &report.Nodes[i]
	}
	for _, f := range report.Findings {
		if rep := byName[f.Node]; rep != nil {
			rep.Counts[f.Class]++
		}
	}
	for node, counts := range w.ledger.omitted() {
		for class, n := range counts {
			report.Overflow += n
			if rep := byName[node]; rep != nil {
				rep.Overflow += n
				rep.Counts[class] += n
			}
		}
	}
	report.Excluded = w.cfg.excluded(w.nodes)
	w.close(&report)
	return report
}

// close says what the report is not proved to have seen.
func (w *sweep) close(report *Report) {
	for i := range report.Nodes {
		report.Nodes[i].close(w.cfg)
	}
	for _, src := range w.sources {
		cover := coverage{whole: true}
		read := false
		for _, n := range w.nodes {
			if n.source == src {
				cover.add(n)
				read = true
			}
		}
		if src.cluster != nil && read {
			report.Gaps = append(report.Gaps, cover.gaps(src)...)
		}
	}
	report.Gaps = append(report.Gaps, w.cfg.unmatched(report.Nodes)...)
	if w.cfg.checks[Orphan] && w.orphans.doubt != "" {
		gap := Gap{Reason: ReasonOrphans, Detail: w.orphans.doubt}
		if w.cfg.orphansAsked {
			report.Gaps = append(report.Gaps, gap)
		} else {
			report.Skipped = append(report.Skipped, gap)
		}
	}
}
