package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

// bench runs tests on mutants: of the tests only those that ask for something that depends on the mutant, and of the
// rules only those that the test asks for or that these need.
type bench struct {
	files  []rules.File
	suites []ruletest.Suite
	*killers
}

// survivors returns the mutants, all of one rule, on which no test fails. Each meets the test first that noticed it
// before, and then every other.
func (b bench) survivors(ctx context.Context, of []mutant) (left []mutant, err error) {
	left = slices.Clone(of)
	tests := b.about(b.groups(), of[0].rule)
	for _, t := range tests {
		knew := func(m mutant) bool { return b.killers.of(m) == t.name }
		if left, err = b.run(ctx, t, left, knew); err != nil {
			return nil, err
		}
	}
	for _, t := range tests {
		if left, err = b.run(ctx, t, left, func(mutant) bool { return true }); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// run runs a test on the mutants that are chosen, and returns all but those that it noticed. One process has them all:
// promtool takes as long to start as for many a test.
func (b bench) run(ctx context.Context, t test, of []mutant, chosen func(mutant) bool) (left []mutant, err error) {
	var some []mutant
	var changed [][]rules.Group
	for _, m := range of {
		if chosen(m) {
			some, changed = append(some, m), append(changed, t.rules(b.with(m)))
		} else {
			left = append(left, m)
		}
	}
	if len(some) == 0 {
		return left, nil
	}
	changed = append(changed, t.rules(b.groups())) // the rules as they are: a test that fails on them notices anything
	failed, says, err := ruletest.Promtool(ctx, t.suite, changed...)
	if err != nil {
		return nil, err
	}
	if slices.Contains(failed, len(some)) {
		return nil, fmt.Errorf("%s fails on the rules as they are:\n%s", t.name, says)
	}
	for i, m := range some {
		if slices.Contains(failed, i) {
			b.killers.add(m, t.name)
		} else {
			left = append(left, m)
		}
	}
	return left, nil
}

func (b bench) groups() (all []rules.Group) {
	for _, f := range b.files {
		all = append(all, f.Groups...)
	}
	return all
}

// with returns all groups, with the mutant in its place.
func (b bench) with(m mutant) []rules.Group {
	all := b.groups()
	for i, g := range all {
		if g.Name == m.group {
			all[i].Rules = slices.Clone(g.Rules)
			all[i].Rules[m.index] = m.rule
		}
	}
	return all
}

// dependents names the alerts and the recorded series that depend on a rule, itself among them.
func dependents(groups []rules.Group, of rulefmt.Rule) (alerts, series []string) {
	if of.Alert != "" {
		return []string{of.Alert}, nil
	}
	series = []string{of.Record}
	for changed := true; changed; {
		changed = false
		for _, g := range groups {
			for _, r := range g.Rules {
				known := slices.Contains(series, r.Record) || slices.Contains(alerts, r.Alert)
				if !known && slices.ContainsFunc(ruletest.Reads(r),
					func(n string) bool { return slices.Contains(series, n) }) {
					changed = true
					if r.Alert != "" {
						alerts = append(alerts, r.Alert)
					} else {
						series = append(series, r.Record)
					}
				}
			}
		}
	}
	return alerts, series
}

func recorded(groups []rules.Group) (series []string) {
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Record != "" {
				series = append(series, r.Record)
			}
		}
	}
	return series
}
