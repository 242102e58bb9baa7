package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

// slow is how long a test must last to be run last, by itself.
const slow = model.Duration(100 * 60e9)

// subject is what a mutant may change: alerts, and recorded series. Of what a test reads besides, only the recorded
// series are there.
type subject struct {
	alerts, series, recorded []string
}

// about returns the tests that ask for one of these alerts or series, with no other question: first
// the short ones of all files together, then each of the others, the longest last.
func about(suites []ruletest.Suite, of subject) []ruletest.Suite {
	var short []ruletest.Suite
	var long []ruletest.Suite
	for _, s := range suites {
		quick := s
		quick.Tests = nil
		for _, t := range s.Tests {
			t.Alerts = slices.DeleteFunc(slices.Clone(t.Alerts),
				func(c ruletest.Check) bool { return !slices.Contains(of.alerts, c.Alert) })
			t.Queries = slices.DeleteFunc(slices.Clone(t.Queries),
				func(c ruletest.Check) bool { return !of.askedBy(c) })
			switch lasts := t.Lasts(); {
			case lasts < 0:
			case lasts < slow:
				quick.Tests = append(quick.Tests, t)
			default:
				alone := s
				alone.Tests = []ruletest.Test{t}
				long = append(long, alone)
			}
		}
		if len(quick.Tests) > 0 {
			short = append(short, quick)
		}
	}
	slices.SortStableFunc(long, func(a, b ruletest.Suite) int {
		return cmp.Compare(a.Tests[0].Lasts(),
			b.Tests[0].Lasts())
	})
	return append(short, long...)
}

func (of subject) askedBy(c ruletest.Check) bool {
	if slices.ContainsFunc(of.alerts, func(a string) bool { return strings.Contains(c.Expr, `"`+a+`"`) }) {
		return true
	}
	reads := ruletest.Reads(rulefmt.Rule{Expr: c.Expr})
	isThere := func(n string) bool { return slices.Contains(of.recorded, n) }
	return slices.ContainsFunc(reads, func(n string) bool { return slices.Contains(of.series, n) }) &&
		!slices.ContainsFunc(reads, func(n string) bool { return !isThere(n) })
}
