package sweep

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/coverage"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/report"
)

// Report combines the results of all looks.
func (w *Sweep) Report() report.Report {
	r := report.Report{Started: w.started, Took: w.cfg.Now().Sub(w.started)}
	for _, n := range w.nodes {
		n.report.Calls += n.reader.Calls()
		n.report.Redirected = n.reader.Redirected()
		r.Nodes = append(r.Nodes, n.report)
	}
	r.Nodes = append(r.Nodes, w.lost...)
	for i := range r.Nodes {
		r.Nodes[i].Quorum = w.quorum
	}
	fill(&r, w.findings)
	excluded := make([]int, len(w.cfg.Rules.Exclusions))
	for _, n := range w.nodes {
		for i, findings := range n.excluded {
			excluded[i] += findings
		}
	}
	r.Excluded = w.cfg.Rules.Excluded(excluded, w.cfg.Now())
	w.close(&r)
	stamp(&r, w.cfg.Group)
	return r
}

// fill takes the findings of the registry, and counts them for their nodes.
func fill(r *report.Report, l *registry.Findings) {
	r.Findings, r.Pending, r.Resolved = l.Lists()
	byName := make(map[string]*report.NodeReport, len(r.Nodes))
	for i := range r.Nodes {
		byName[r.Nodes[i].Node] = &r.Nodes[i]
	}
	for _, f := range r.Findings {
		if rep := byName[f.Node]; rep != nil {
			rep.Counts[f.Class]++
		}
	}
	for node, counts := range l.Omitted() {
		for class, n := range counts {
			r.Overflow += n
			if rep := byName[node]; rep != nil {
				rep.Overflow += n
				rep.Counts[class] += n
			}
		}
	}
}

// close adds the gaps of the whole report.
func (w *Sweep) close(r *report.Report) {
	for i := range r.Nodes {
		coverage.Close(&r.Nodes[i], w.cfg.Rules.ReadValues())
	}
	for _, src := range w.sources {
		cover := coverage.Slots{Whole: true}
		read := false
		for _, n := range w.nodes {
			if n.Source == src {
				cover.Add(&n.covered.Slots)
				read = true
			}
		}
		if src.Cluster != nil && read {
			r.Gaps = append(r.Gaps, cover.Gaps(src.Name)...)
		}
	}
	for _, n := range w.nodes {
		r.Skipped = append(r.Skipped, n.covered.Others...)
	}
	if !w.cfg.EmptyAllowed {
		r.Gaps = append(r.Gaps, coverage.Unmatched(w.cfg.Scope.Patterns, r.Nodes)...)
	}
	if w.cfg.Rules.Checks[inspect.Orphan] && w.orphans.Doubt() != "" {
		w.omitted(r, w.cfg.Asked[inspect.Orphan], inspect.Gap{Reason: inspect.ReasonOrphans, Detail: w.orphans.Doubt()})
	}
	for _, n := range w.nodes {
		if n.report.Undated > 0 {
			// A later sweep that remembers this one judges them in time, so that it is complete.
			w.omitted(r, w.cfg.Asked[inspect.HeldTooLong] && n.begins, undated(&n.report))
		}
	}
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Uncompared > 0 {
			text := fmt.Sprintf("%s of other libraries could not be compared with the other nodes: %s",
				coverage.Locks(n.Uncompared), w.orphans.Uncompared())
			w.omitted(r, w.cfg.Asked[inspect.Orphan],
				inspect.Gap{Node: n.Node, Reason: inspect.ReasonUncompared, Detail: text})
		}
	}
}

// undated says how many locks were not judged by how long they are held.
func undated(n *report.NodeReport) inspect.Gap {
	text := fmt.Sprintf("%s without the time since which they are held: sweeps that remember holders report those that stay "+
		"(--state FILE, WithMemory)", coverage.Locks(n.Undated))
	if n.Indistinct > 0 {
		text += fmt.Sprintf(". No sweep can judge %s that somebody renews: the value does not identify a holder",
			coverage.Locks(n.Indistinct))
	}
	return inspect.Gap{Node: n.Node, Reason: inspect.ReasonUnwatched, Detail: text}
}

// omitted adds what a check left out: a gap if the check was asked for by name.
func (w *Sweep) omitted(r *report.Report, asked bool, g inspect.Gap) {
	if asked {
		r.Gaps = append(r.Gaps, g)
	} else {
		r.Skipped = append(r.Skipped, g)
	}
}

// Proof returns what the finished sweep proved.
func (w *Sweep) Proof(r *report.Report) *coverage.Proof {
	p := &coverage.Proof{Nodes: make(map[string]coverage.Proved), Values: w.values, Orphans: w.orphans.Possible(),
		Quorum: w.quorum}
	for _, n := range r.Nodes {
		p.Nodes[n.Node] = coverage.Proved{Gaps: n.Gaps}
	}
	for _, n := range w.nodes {
		if n.Source.Cluster != nil {
			known := p.Nodes[n.Node]
			known.Slots = &n.covered.Slots.Read
			p.Nodes[n.Node] = known
		}
	}
	return p
}

// Appeared returns the findings that this sweep was the first to confirm.
func (w *Sweep) Appeared() []report.Finding { return w.confirmation.appeared }

// Errs returns the errors of the nodes.
func (w *Sweep) Errs() []error { return w.errs }

// stamp writes the group into all parts of a report.
func stamp(r *report.Report, group string) {
	if group == "" {
		return
	}
	for i := range r.Nodes {
		r.Nodes[i].Group = group
		for j := range r.Nodes[i].Gaps {
			r.Nodes[i].Gaps[j].Group = group
		}
	}
	for _, gaps := range [][]inspect.Gap{r.Gaps, r.Skipped} {
		for i := range gaps {
			gaps[i].Group = group
		}
	}
	for i := range r.Skipped {
		r.Skipped[i].Group = group
	}
	for i := range r.Excluded {
		r.Excluded[i].Group = group
	}
	for _, list := range [][]report.Finding{r.Findings, r.Pending, r.Resolved} {
		for i := range list {
			list[i].Group = group
		}
	}
}
