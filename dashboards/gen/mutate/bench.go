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

// bench runs tests on mutants: of the rules only those that the tested alerts need, and
// of the tests only those that name these alerts, the short ones first.
type bench struct {
	files  []rules.File
	suites []ruletest.Suite
}

// sound is an error if a test about an alert fails on the rules as they are.
func (b bench) sound(ctx context.Context, alert string) error {
	for _, f := range b.files {
		for _, g := range f.Groups {
			if i := slices.IndexFunc(g.Rules, func(r rulefmt.Rule) bool { return r.Alert == alert }); i >= 0 {
				failed, err := b.notices(ctx, mutant{group: g.Name, index: i, rule: g.Rules[i]})
				if failed {
					err = errors.Join(err,
						fmt.Errorf(
							"%s: a test fails on the rule as it is: promtool test rules ../tests/*.yaml says which",
							alert))
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
	alerts := dependents(groups, m.rule)
	if err := ruletest.Write(dir, ruletest.Needed(groups, alerts)); err != nil {
		return false, err
	}
	for _, s := range about(b.suites, alerts) {
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

// dependents names the alerts that a rule has to do with.
func dependents(groups []rules.Group, of rulefmt.Rule) []string {
	if of.Alert != "" {
		return []string{of.Alert}
	}
	series, alerts := []string{of.Record}, []string(nil)
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
	return alerts
}
