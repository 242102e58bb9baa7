package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

// bench runs tests on mutants: of the rules only those that depend on the mutant or that
// these need, and of the tests only those that ask for one of them, the short ones first.
type bench struct {
	files  []rules.File
	suites []ruletest.Suite
}

// sound is an error if a test about an alert or a recorded series fails on the rules as they are.
func (b bench) sound(ctx context.Context, name string) error {
	for _, f := range b.files {
		for _, g := range f.Groups {
			if i := slices.IndexFunc(g.Rules, func(r rulefmt.Rule) bool { return r.Alert+r.Record == name }); i >= 0 {
				failed, err := b.notices(ctx, mutant{group: g.Name, index: i, rule: g.Rules[i]})
				if failed {
					err = errors.Join(err,
						fmt.Errorf("%s: a test fails on the rule as it is: promtool test rules ../tests/*.yaml says which", name))
				}
				return err
			}
		}
	}
	return nil
}

// notices reports whether a test fails on the mutant.
func (b bench) notices(ctx context.Context, m mutant) (bool, error) {
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	groups := b.with(m)
	alerts, series := dependents(groups, m.rule)
	needed := ruletest.Needed(groups, slices.Concat(alerts, series))
	if err := ruletest.Write(dir, needed); err != nil {
		return false, err
	}
	for _, s := range about(b.suites, subject{alerts: alerts, series: series, recorded: recorded(needed)}) {
		noticed, _, err := ruletest.Promtool(ctx, dir, s)
		if noticed || err != nil {
			return noticed, err
		}
	}
	return false, nil
}

// with returns all groups, with the mutant in its place.
func (b bench) with(m mutant) []rules.Group {
	var all []rules.Group
	for _, f := range b.files {
		for _, g := range f.Groups {
			g.Rules = slices.Clone(g.Rules)
			if g.Name == m.group {
				g.Rules[m.index] = m.rule
			}
			all = append(all, g)
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
