package ruletest

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// Reads lists what an expression reads that other rules record.
func Reads(r rulefmt.Rule) []string {
	tree, err := promql.Parse(r.Expr)
	if err != nil {
		return nil
	}
	var names []string
	for _, s := range promql.Selectors(tree) {
		if strings.Contains(s.Metric, ":") {
			names = append(names, s.Metric)
		}
	}
	return names
}

func name(r rulefmt.Rule) string { return r.Alert + r.Record }

// Needed leaves out the rules that have nothing to do with these alerts and recorded series.
func Needed(groups []rules.Group, names []string) []rules.Group {
	want := map[string]bool{}
	for _, a := range names {
		want[a] = true
	}
	for changed := true; changed; {
		changed = false
		for _, g := range groups {
			for _, r := range g.Rules {
				if !want[name(r)] {
					continue
				}
				for _, n := range Reads(r) {
					if !want[n] {
						want[n], changed = true, true
					}
				}
			}
		}
	}
	var left []rules.Group
	for _, g := range groups {
		g.Rules = slices.DeleteFunc(slices.Clone(g.Rules), func(r rulefmt.Rule) bool { return !want[name(r)] })
		if len(g.Rules) > 0 {
			left = append(left, g)
		}
	}
	return left
}
