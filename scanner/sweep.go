package scanner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/server"
)

// nodesAtOnce bounds how many nodes are swept at a time, and so the memory for
// their pages.
const nodesAtOnce = 8

// run is one sweep.
type run struct {
	*Scanner
	started time.Time
	mixed   bool // the pattern can match keys that are no locks
	orphans *orphans

	targets []*target
	reports []NodeReport // of the targets, and of sources without any
	errs    []error

	mu       sync.Mutex
	appeared []Finding
}

// confirmed takes down a finding that was not confirmed before.
func (r *run) confirmed(f Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.appeared = append(r.appeared, f)
}

// sweep expects that it is its turn.
func (s *Scanner) sweep(outer context.Context) (Report, error) {
	r := &run{Scanner: s, started: s.cfg.now(), mixed: matchesHelpers(s.cfg.pattern), orphans: newOrphans(s.sources)}
	ctx, cancel := context.WithTimeoutCause(outer, s.cfg.deadline, ErrDeadline)
	defer cancel()
	s.ledger.begin()
	r.findTargets(ctx)
	r.eachWithin(ctx, s.cfg.pagesUntil(), r.sweepNode)
	r.secondLook(ctx)
	report, sightings := r.report()
	if err := context.Cause(outer); err != nil {
		r.errs = append(r.errs, fmt.Errorf("scanner: the sweep was cut short: %w", err))
	}
	s.totals.add(&report)
	s.tell(outer, report, sightings)
	if outer.Err() == nil {
		r.errs = append(r.errs, s.notify(outer, report)...)
	}
	return report, errors.Join(r.errs...)
}

// findTargets asks all clusters at once for their masters.
func (r *run) findTargets(ctx context.Context) {
	found, errs := make([][]*target, len(r.sources)), make([]error, len(r.sources))
	var wg sync.WaitGroup
	for i, src := range r.sources {
		wg.Go(func() { found[i], errs[i] = src.targets(ctx) })
	}
	wg.Wait()
	for _, t := range slices.Concat(found...) {
		t.scriptFailed, t.calls = false, 0
		if t.watch == nil {
			t.watch = newWatch(r.cfg.maxWatched)
		}
		r.targets = append(r.targets, t)
		r.reports = append(r.reports, NodeReport{Node: t.name, Counts: map[Class]int{}})
	}
	for i, src := range r.sources {
		if errs[i] != nil {
			r.lost(ctx, src, errs[i])
		}
	}
	r.forgetGone(errs)
}

// lost reports the masters a cluster had when it last answered, or the cluster.
func (r *run) lost(ctx context.Context, src *source, err error) {
	r.orphans.markDown(src)
	names := slices.Sorted(maps.Keys(src.known))
	if len(names) == 0 {
		names = []string{src.name}
	}
	for _, name := range names {
		rep := NodeReport{Node: name, Counts: map[Class]int{}}
		r.fail(ctx, &rep, "find masters", err)
		r.reports = append(r.reports, rep)
		if rep.Err != nil {
			r.errs = append(r.errs, rep.Err)
		}
	}
}

// forgetGone drops what is known of masters that their clusters have no more. Of a
// cluster that did not answer nothing is known to be gone.
func (r *run) forgetGone(errs []error) {
	kept := make(map[string]bool)
	for i, src := range r.sources {
		if errs[i] != nil {
			for name := range src.known {
				kept[name] = true
			}
			kept[src.name] = true
		}
	}
	for _, t := range r.targets {
		kept[t.name] = true
	}
	gone := func(node string) bool { return !kept[node] }
	r.ledger.drop(gone)
	r.totals.drop(gone)
}

// eachWithin is each for a part of the sweep's time.
func (r *run) eachWithin(ctx context.Context, d time.Duration, do func(context.Context, *target, *NodeReport)) {
	ctx, cancel := context.WithTimeoutCause(ctx, d, ErrDeadline)
	defer cancel()
	r.each(ctx, do)
}

// each does something with all targets, several at a time, and waits.
func (r *run) each(ctx context.Context, do func(context.Context, *target, *NodeReport)) {
	slots := make(chan struct{}, nodesAtOnce)
	var wg sync.WaitGroup
	for i, t := range r.targets {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(ctx, t, &r.reports[i])
		})
	}
	wg.Wait()
	for i := range r.targets {
		if err := r.reports[i].Err; err != nil && !slices.Contains(r.errs, err) {
			r.errs = append(r.errs, err)
		}
	}
}

// fail takes down why a node could not be swept to its end. What the sweep's own
// end has cut off is truncated, which is no failure of the node.
func (r *run) fail(ctx context.Context, rep *NodeReport, op string, err error) {
	rep.Truncated = true
	if !ended(ctx) {
		rep.Err = &NodeError{Node: rep.Node, Op: op, Err: server.Scrub(err)}
	}
}

// ended says whether ctx is over. A connection may notice the deadline first.
func ended(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// report puts together what is known when all looks are done.
func (r *run) report() (Report, sightings) {
	confirmed, pending, resolved, overflow := r.ledger.lists()
	report := Report{
		Started: r.started, Took: r.cfg.now().Sub(r.started), Nodes: r.reports,
		Findings: confirmed, Pending: pending, Resolved: resolved, Overflow: overflow,
	}
	byNode := make(map[string]*NodeReport, len(r.reports))
	for i := range r.reports {
		byNode[r.reports[i].Node] = &r.reports[i]
	}
	for _, f := range confirmed {
		if rep := byNode[f.Node]; rep != nil {
			rep.Counts[f.Class]++
		}
	}
	for i, t := range r.targets {
		r.reports[i].Calls = t.calls
	}
	return report, sightings{appeared: r.appeared, resolved: resolved}
}
