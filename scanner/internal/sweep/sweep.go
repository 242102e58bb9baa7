package sweep

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/judge"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/orphan"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/internal/silence"
	"github.com/lockscope/lockscope/scanner/report"
)

// Sweep is one sweep: the pages of all nodes, then the second look.
type Sweep struct {
	cfg      *Settings
	sources  []*node.Source
	memory   *Memory
	findings *registry.Findings
	started  time.Time

	orphans      *orphan.Redlock
	confirmation *confirmation
	values       *coverage.Values
	quorum       int // as the sweep before knew it until this one knows

	nodes []*nodeSweep
	lost  []report.NodeReport // of sources whose masters could not be found
	errs  []error
}

// New prepares a sweep of the sources. before is what the previous sweep proved, or nil.
func New(cfg *Settings, sources []*node.Source, m *Memory, l *registry.Findings, before *coverage.Proof) *Sweep {
	var compared *coverage.Values
	var quorum int
	if before != nil {
		compared, quorum = before.Values, before.Quorum
	}
	o := orphan.New(sources)
	return &Sweep{
		cfg: cfg, sources: sources, memory: m, findings: l, started: cfg.Now(),
		orphans: o, confirmation: &confirmation{cfg: cfg, findings: l, orphans: o},
		values: coverage.NewValues(l.All(), compared), quorum: quorum,
	}
}

// Run sweeps until it is done, or ctx or the deadline ends. It passes to drop which nodes of earlier sweeps no longer
// exist.
func (w *Sweep) Run(ctx context.Context, drop func(gone func(node string) bool)) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.cfg.Deadline, report.ErrDeadline)
	defer cancel()
	w.findings.Begin()
	w.cfg.Silence.Begin(w.started)
	gone := w.findNodes(ctx)
	drop(gone)
	if len(w.sources) > 1 || w.cfg.Asked[inspect.Orphan] {
		w.orphans.Prove(ctx, w.cfg.OneRedlock)
	}
	w.quorum = w.orphans.Quorum(w.cfg.OneRedlock, w.quorum)
	w.readAll(ctx)
	w.rehome()
	w.confirm(ctx)
}

// findNodes asks all clusters at once for their masters. It returns which nodes no longer exist. Nothing of a cluster
// that did not answer counts as gone.
func (w *Sweep) findNodes(ctx context.Context) (gone func(node string) bool) {
	found, errs := make([][]node.Connection, len(w.sources)), make([]error, len(w.sources))
	var wg sync.WaitGroup
	for i, src := range w.sources {
		wg.Go(func() { found[i], errs[i] = src.Connections(ctx) })
	}
	wg.Wait()
	kept := make(map[string]bool)
	for i, src := range w.sources {
		if errs[i] != nil {
			kept[src.Name] = true
			for _, name := range w.lose(ctx, src, errs[i]) {
				kept[name] = true
			}
			continue
		}
		for _, c := range found[i] {
			kept[c.Node] = true
			w.nodes = append(w.nodes, newNodeSweep(c, w.cfg, w.memory.recall(&c, w.cfg), w.findings, w.orphans, w.values))
		}
		w.memory.keep(src, found[i])
	}
	return func(node string) bool { return !kept[node] }
}

// lose reports the masters that a cluster had when it last answered, or the cluster, and returns their names.
func (w *Sweep) lose(ctx context.Context, src *node.Source, err error) (names []string) {
	w.orphans.MarkDown(src)
	names = w.memory.nodes(src)
	for _, name := range names {
		rep := newNodeReport(name)
		fail(ctx, &rep, "find masters", err)
		w.lost = append(w.lost, rep)
		if rep.Err != nil {
			w.errs = append(w.errs, rep.Err)
		}
	}
	return names
}

// readAll reads the pages of the nodes for a part of the sweep's time.
func (w *Sweep) readAll(ctx context.Context) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.cfg.pagesUntil(), report.ErrDeadline)
	defer cancel()
	w.each(func(n *nodeSweep) { n.read(ctx) })
}

// rehome finds the current nodes of findings in clusters, which change after a failover and when slots move.
func (w *Sweep) rehome() {
	for _, src := range w.sources {
		if src.Cluster == nil {
			continue
		}
		w.findings.Rehome(src.Name, func(f *registry.Entry) string {
			for _, n := range w.nodes {
				if n.Source == src && n.report.Err == nil && n.view.Own.Has(hashslot.Of(f.Key)) {
					return n.Node
				}
			}
			return ""
		})
	}
}

// confirm looks again at what is wrong, after the grace.
func (w *Sweep) confirm(ctx context.Context) {
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

// each calls do for all nodes, several at a time, and waits.
func (w *Sweep) each(do func(n *nodeSweep)) {
	node.Each(len(w.nodes), node.AtOnce, func(i int) { do(w.nodes[i]) })
	for _, n := range w.nodes {
		if err := n.report.Err; err != nil && !slices.Contains(w.errs, err) {
			w.errs = append(w.errs, err)
		}
	}
}

// Settings are common to all sweeps.
type Settings struct {
	Scope        keyreader.Scope
	Group        string // that the report is stamped with
	Rules        judge.Rules
	Deadline     time.Duration
	ConfirmAfter time.Duration          // between the first and the second look
	MaxWatched   int                    // locks per source
	MaxValues    int                    // read per node for their own sake; negative: all
	OneRedlock   bool                   // said of the sources; see package orphan
	Asked        map[inspect.Class]bool // not only because all classes are the default
	EmptyAllowed bool                   // a pattern without a key is no gap
	Silence      *silence.Watch         // of the locks that sweeps see
	Progress     func(report.Progress)
	Now          func() time.Time
}

// pagesUntil is the part of the deadline for pages. The rest is for the second look: without it, a sweep that is
// always cut off would confirm nothing.
func (s *Settings) pagesUntil() time.Duration { return s.Deadline - s.Deadline/10 - s.ConfirmAfter }

// valuesPerPass is how many values a pass reads besides those of findings.
func (s *Settings) valuesPerPass() int {
	if !s.Rules.ReadValues() {
		return 0
	}
	return s.MaxValues
}

// query describes the locks whose TTL is a finding, for the first pattern.
func (s *Settings) query() keyreader.Query {
	pattern := s.Scope.Patterns[0]
	return keyreader.Query{Pattern: pattern, Count: s.Scope.PageSize, Limit: s.Rules.TTLLimitFor(pattern)}
}
