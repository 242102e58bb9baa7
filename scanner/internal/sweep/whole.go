package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

// Whole is one sweep of a system that is read as a whole, not in pages. Registry, confirmation and report are those of
// a [Sweep].
type Whole struct {
	cfg      *Settings
	look     func(context.Context) (inspect.Look, error)
	held     func(context.Context) ([]inspect.HeldLock, error)
	findings *registry.Findings
	started  time.Time

	report   report.NodeReport
	skipped  []inspect.Gap
	excluded []int
	appeared []report.Finding
}

// NewWhole prepares a sweep of a system, whose leaks look reads once. held reads the locks that are held.
func NewWhole(cfg *Settings, backend, node string, look func(context.Context) (inspect.Look, error),
	held func(context.Context) ([]inspect.HeldLock, error), l *registry.Findings) *Whole {
	w := &Whole{cfg: cfg, look: look, held: held, findings: l, started: cfg.Now(), report: newNodeReport(node),
		excluded: make([]int, len(cfg.Rules.Exclusions))}
	w.report.Backend = backend
	return w
}

// Run looks once, and a second time if there is something to confirm. It ends with ctx or at the deadline.
func (w *Whole) Run(ctx context.Context, _ func(gone func(node string) bool)) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.cfg.Deadline, report.ErrDeadline)
	defer cancel()
	w.findings.Begin()
	w.cfg.Silence.Begin(w.started)
	first, err := w.timed(ctx)
	seen := observations(first.Leaks)
	w.count(&first, err == nil)
	w.note(seen)
	if err != nil {
		w.fail(ctx, err)
		return
	}
	w.see(ctx)
	w.settle(&first, seen, false)
	wait := w.grace()
	if wait < 0 {
		return
	}
	if !clock.Pause(ctx, wait) {
		w.fail(ctx, context.Cause(ctx))
		return
	}
	second, err := w.timed(ctx)
	if err != nil {
		w.fail(ctx, err)
		return
	}
	w.settle(&second, observations(second.Leaks), true)
}

// see notes for the silence watch which locks are held. A system that does not list them has no report of an error: its
// leaks were read.
func (w *Whole) see(ctx context.Context) {
	all, err := w.held(ctx)
	if err != nil {
		w.cfg.Silence.Missed()
	}
	now := w.cfg.Now()
	for i := range all {
		if w.cfg.Rules.Excludes(all[i].Key, now) < 0 {
			w.cfg.Silence.Saw(all[i].Key, now)
		}
	}
}

func (w *Whole) timed(ctx context.Context) (inspect.Look, error) {
	began := w.cfg.Now()
	l, err := w.look(ctx)
	w.report.Took += w.cfg.Now().Sub(began)
	return l, err
}

// count takes up how much the first look has read.
func (w *Whole) count(l *inspect.Look, whole bool) {
	if whole {
		w.report.Matched = make(map[string]int64)
	}
	for _, c := range l.Read {
		w.report.Locks += int64(c.N)
		w.report.Examined += int64(c.N)
		if whole {
			w.report.Matched[c.What] += int64(c.N)
		}
	}
	w.report.Gaps, w.skipped = w.name(l.Gaps), w.name(l.Skipped)
}

func (w *Whole) name(gaps []inspect.Gap) []inspect.Gap {
	for i := range gaps {
		gaps[i].Node = w.report.Node
	}
	return gaps
}

// fail records why the system was not read to the end. A caller that gave up leaves it truncated; a deadline does not
// excuse a system that did not answer.
func (w *Whole) fail(ctx context.Context, err error) {
	w.report.Matched = nil
	if w.report.Truncated = ctx.Err() != nil && !errors.Is(context.Cause(ctx), report.ErrDeadline); !w.report.Truncated {
		w.report.Err = err
	}
}

// note keeps what a look has found, or counts it if an exclusion keeps it out. Beyond the limit of findings, the same
// ones are kept each time.
func (w *Whole) note(seen map[observed]inspect.Leak) {
	now := w.cfg.Now()
	for _, s := range slices.SortedFunc(maps.Values(seen), byKey) {
		if i := w.cfg.Rules.Excludes(s.Key, now); i >= 0 {
			w.excluded[i]++
			continue
		}
		w.findings.Note(w.entry(s, now))
	}
}

// settle compares the registry with a look: what is gone is resolved, and what two looks have shown is confirmed.
func (w *Whole) settle(l *inspect.Look, seen map[observed]inspect.Leak, second bool) {
	now := w.cfg.Now()
	for _, f := range w.findings.On(w.report.Node) {
		s, there := seen[observedOf(leakOf(&f.Finding))]
		earlier := f.FirstSeen.Before(w.started) && now.Sub(f.FirstSeen) >= w.cfg.ConfirmAfter
		switch {
		case w.cfg.Rules.Excludes(f.Key, now) >= 0:
			w.findings.Settle(f, *f, false)
		case !there && l.Hides != nil && l.Hides(leakOf(&f.Finding)):
		case !there || !f.Same(s.Identity):
			w.findings.Settle(f, *f, false)
		case second || f.Confirmed || earlier:
			if w.findings.Settle(f, w.entry(s, now), true) {
				w.appeared = append(w.appeared, f.Sealed())
			}
		}
	}
}

// grace returns the time until every pending finding is old enough for its second look; negative if there is none.
func (w *Whole) grace() time.Duration {
	wait, now := time.Duration(-1), w.cfg.Now()
	for _, f := range w.findings.On(w.report.Node) {
		if !f.Confirmed {
			wait = max(wait, 0, w.cfg.ConfirmAfter-now.Sub(f.FirstSeen))
		}
	}
	return min(wait, w.cfg.ConfirmAfter)
}

// Report combines the results of both looks.
func (w *Whole) Report() report.Report {
	r := report.Report{Started: w.started, Took: w.cfg.Now().Sub(w.started), Nodes: []report.NodeReport{w.report},
		Skipped: w.skipped, Excluded: w.cfg.Rules.Excluded(w.excluded, w.cfg.Now())}
	fill(&r, w.findings)
	coverage.Close(&r.Nodes[0], false)
	stamp(&r, w.cfg.Group)
	return r
}

// Appeared returns the findings that this sweep was the first to confirm.
func (w *Whole) Appeared() []report.Finding { return w.appeared }

// Errs returns the error of the system, if it has failed.
func (w *Whole) Errs() []error {
	if w.report.Err == nil {
		return nil
	}
	return []error{w.report.Err}
}

// observed identifies a finding of one system.
type observed struct {
	class      inspect.Class
	place, key string
}

func observedOf(l *inspect.Leak) observed { return observed{l.Class, l.Place, l.Key} }

// leakOf is what identifies a finding.
func leakOf(f *report.Finding) *inspect.Leak {
	return &inspect.Leak{Class: f.Class, Place: f.Place, Key: f.Key, Type: f.Type}
}

// observations has one observation for each lock: the registry keeps one finding of a class for it. Of several holders
// that share a lock it is the one that has held it for longest, and the evidence counts the others.
func observations(all []inspect.Leak) map[observed]inspect.Leak {
	oldest, others := make(map[observed]inspect.Leak, len(all)), make(map[observed]int)
	for _, s := range all {
		id := observedOf(&s)
		before, twice := oldest[id]
		if twice {
			others[id]++
		}
		if !twice || s.Hold.Since.Before(before.Hold.Since) {
			oldest[id] = s
		}
	}
	for id, n := range others {
		s := oldest[id]
		s.Evidence += fmt.Sprintf("; holders beside it: %d", n)
		oldest[id] = s
	}
	return oldest
}

func byKey(a, b inspect.Leak) int {
	return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Key, b.Key))
}

func (w *Whole) entry(s inspect.Leak, now time.Time) registry.Entry {
	f := report.Finding{Class: s.Class, Backend: w.report.Backend, Node: w.report.Node, Place: s.Place,
		Key: s.Key, Type: s.Type, TTL: s.TTL, Hold: s.Hold, Evidence: s.Evidence, FirstSeen: now, LastSeen: now}
	return registry.Entry{Finding: f, Facts: registry.Facts{Source: w.report.Node, Identity: s.Identity}}
}
