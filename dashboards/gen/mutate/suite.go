package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/rulefmt"

	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
	"github.com/lockscope/lockscope/dashboards/gen/internal/ruletest"
)

// test is one test with those questions only that a mutant may change, and the names of the rules that these need.
type test struct {
	name   string
	suite  ruletest.Suite
	needed map[string]bool
	cost   float64
}

// rules returns the rules that the test needs.
func (t test) rules(groups []rules.Group) (left []rules.Group) {
	for _, g := range groups {
		g.Rules = slices.DeleteFunc(slices.Clone(g.Rules), func(r rulefmt.Rule) bool { return !t.needed[name(r)] })
		if len(g.Rules) > 0 {
			left = append(left, g)
		}
	}
	return left
}

// subject is what a mutant may change: alerts, and recorded series. Of what a test reads besides, only the recorded
// series are there.
type subject struct {
	alerts, series, recorded []string
}

func testName(s ruletest.Suite, t ruletest.Test) string { return s.File + ": " + t.Name }

// about returns the tests that ask for what depends on a rule: first those that are soon done, and sooner those that ask
// for the rule itself.
func (b bench) about(groups []rules.Group, r rulefmt.Rule) (all []test) {
	alerts, series := dependents(groups, r)
	everything := slices.Concat(alerts, series)
	of := subject{alerts: alerts, series: series, recorded: recorded(ruletest.Needed(groups, everything))}
	for _, s := range b.suites {
		for _, t := range s.Tests {
			t.Alerts = slices.DeleteFunc(slices.Clone(t.Alerts),
				func(c ruletest.Check) bool { return !slices.Contains(of.alerts, c.Alert) })
			t.Queries = slices.DeleteFunc(slices.Clone(t.Queries),
				func(c ruletest.Check) bool { return !of.askedBy(c) })
			if t.Lasts() < 0 {
				continue
			}
			one := s
			one.Tests = []ruletest.Test{t}
			asks, known := t.Asks()
			if !known {
				asks = everything
			}
			needed := ruletest.Needed(groups, asks)
			found := test{testName(s, t), one, namesOf(needed), ruletest.Job{Suite: one, Groups: needed}.Cost()}
			if slices.Contains(asks, name(r)) {
				found.cost /= directly
			}
			all = append(all, found)
		}
	}
	slices.SortStableFunc(all, func(a, b test) int { return cmp.Compare(a.cost, b.cost) })
	return all
}

func namesOf(groups []rules.Group) map[string]bool {
	all := map[string]bool{}
	for _, g := range groups {
		for _, r := range g.Rules {
			all[name(r)] = true
		}
	}
	return all
}

// directly is how much more a test may cost that asks for the rule itself, for it notices more.
const directly = 5

func (of subject) askedBy(c ruletest.Check) bool {
	if slices.ContainsFunc(of.alerts, func(a string) bool { return strings.Contains(c.Expr, `"`+a+`"`) }) {
		return true
	}
	reads := ruletest.Reads(rulefmt.Rule{Expr: c.Expr})
	isThere := func(n string) bool { return slices.Contains(of.recorded, n) }
	return slices.ContainsFunc(reads, func(n string) bool { return slices.Contains(of.series, n) }) &&
		!slices.ContainsFunc(reads, func(n string) bool { return !isThere(n) })
}
