package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/backend"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/pause"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// openSystems makes the backends that flags name, and connects to none.
func (f *scanFlags) openSystems(a *app.App) (all []backend.Backend, rules *backend.LeakRules, err error) {
	if err := f.refuse(); err != nil {
		return nil, nil, err
	}
	if rules, err = f.groups.Sweep.LeakRules(); err != nil {
		return nil, nil, err
	}
	rules.Schema = f.set.Changed("schema")
	all, err = f.systems.Open(a, f.groups.Redis(), nil)
	return all, rules, err
}

// refuse names the flag of something that would silently leave out the other systems.
func (f *scanFlags) refuse() error {
	for flag, given := range map[string]bool{
		"config": f.groups.Config != "", "repair": f.repair.action != "", "state": f.memory != "",
		"textfile": f.textfile != "", "pushgateway": f.gateway != "",
		"alertmanager and --webhook": f.groups.Notifies(),
	} {
		if given {
			return fmt.Errorf("--%s is for Redis only: scan --postgres, --etcd and --zookeeper without it", flag)
		}
	}
	return nil
}

// sweep reads all groups and all systems at the same time. The reports of the groups come first, in their order.
func (p *plan) sweep(ctx context.Context) ([]scanner.Report, error) {
	reports, errs := make([]scanner.Report, len(p.systems)), make([]error, len(p.systems)+1)
	var all sync.WaitGroup
	for i, b := range p.systems {
		all.Go(func() { reports[i], errs[i] = look(ctx, b, p.rules) })
	}
	var groups []scanner.Report
	groups, errs[len(p.systems)] = p.groups.Sweep(ctx)
	all.Wait()
	return append(groups, reports...), errors.Join(errs...)
}

// look reads a system once, and a second time if it found anything: what is there both times is confirmed.
func look(ctx context.Context, b backend.Backend, r *backend.LeakRules) (scanner.Report, error) {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.Deadline)
	defer cancel()
	var first, second backend.Leaks
	err := b.Connect(ctx)
	if err == nil {
		first, err = b.Leaks(ctx, r)
	}
	result := scanner.Report{Started: started}
	if len(first.Found) > 0 && err == nil {
		if pause.For(ctx, r.ConfirmAfter); ctx.Err() != nil {
			err = fmt.Errorf("%s %s: %w before the second look", b.System(), b.Address(), ctx.Err())
		} else {
			second, err = b.Leaks(ctx, r)
		}
		addFindings(&result, b, r, first, second, err)
	}
	result.Took = time.Since(started)
	result.Nodes = []scanner.NodeReport{nodeReport(b, &result, first, err)}
	for _, s := range first.Skipped {
		s.Node = b.Address()
		result.Skipped = append(result.Skipped, s)
	}
	return result, err
}

// addFindings takes what both looks found. If the second one failed, nothing is confirmed.
func addFindings(to *scanner.Report, b backend.Backend, r *backend.LeakRules, first, second backend.Leaks, err error) {
	again := make(map[string]bool)
	for _, l := range second.Found {
		again[identity(l)] = true
	}
	now := time.Now()
	for _, l := range first.Found {
		l.Backend, l.Node, l.FirstSeen, l.LastSeen = b.System(), b.Address(), to.Started, now
		switch {
		case err != nil:
			to.Pending = append(to.Pending, l.Finding)
		case again[identity(l)]:
			l.Confirmed = true
			to.Findings = append(to.Findings, l.Finding)
		}
	}
	to.Overflow = first.Overflow
	for _, list := range []*[]scanner.Finding{&to.Findings, &to.Pending} {
		slices.SortStableFunc(*list, func(a, b scanner.Finding) int { return report.Compare(&a, &b) })
		if over := len(*list) - r.Most; over > 0 {
			to.Overflow, *list = to.Overflow+over, (*list)[:r.Most]
		}
	}
}

func identity(l backend.Leak) string {
	return fmt.Sprintf("%q %q %q %s", l.Class, l.Place, l.Key, l.Identity)
}

func nodeReport(b backend.Backend, r *scanner.Report, read backend.Leaks, err error) scanner.NodeReport {
	n := scanner.NodeReport{
		Node: b.Address(), Backend: b.System(), Took: r.Took, Counts: make(map[scanner.Class]int), Err: err,
		Overflow: r.Overflow, Gaps: read.Gaps,
	}
	if err == nil {
		n.Matched = make(map[string]int64)
	}
	for _, c := range read.Read {
		n.Locks += c.N
		n.Examined += c.N
		if err == nil {
			n.Matched[c.What] += c.N
		}
	}
	for _, f := range r.Findings {
		n.Counts[f.Class]++
	}
	if r.Overflow > 0 {
		n.Gaps = append(n.Gaps, scanner.Gap{Reason: scanner.ReasonBoundReached,
			Detail: fmt.Sprintf("%d more findings than --max-findings", r.Overflow)})
	}
	if err != nil {
		n.Gaps = append(n.Gaps, scanner.Gap{Reason: scanner.ReasonNodeFailed, Detail: err.Error()})
	}
	for i := range n.Gaps {
		n.Gaps[i].Node = b.Address()
	}
	return n
}
