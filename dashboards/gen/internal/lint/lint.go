// Package lint checks dashboards: the rules of Grafana's dashboard-linter as far as
// they apply to Prometheus, and some that concern only ours.
package lint

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/lockscope/lockscope/dashboards/gen/internal/catalogue"
	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// Rule is one thing to check.
type Rule struct {
	Name  string
	Why   string
	check func(*run)
}

// Finding is one thing that is wrong.
type Finding struct{ Rule, Where, What string }

func (f Finding) String() string { return fmt.Sprintf("%s: %s: %s", f.Rule, f.Where, f.What) }

// run is one check of one dashboard.
type run struct {
	grafana.Dashboard
	catalogue *catalogue.Catalogue
	boards    map[string]bool // uids of all dashboards
	rule      string
	findings  []Finding
}

// Linter checks dashboards that belong together.
type Linter struct {
	Catalogue *catalogue.Catalogue
	Boards    []grafana.Dashboard
}

// Check applies the rules to every dashboard.
func (l Linter) Check(rules ...Rule) []Finding {
	uids := map[string]bool{}
	for _, d := range l.Boards {
		uids[d.UID] = true
	}
	var all []Finding
	for _, d := range l.Boards {
		for _, r := range rules {
			one := &run{Dashboard: d, catalogue: l.Catalogue, boards: uids, rule: r.Name}
			r.check(one)
			all = append(all, one.findings...)
		}
	}
	return all
}

func (r *run) found(where, format string, args ...any) {
	r.findings = append(r.findings, Finding{Rule: r.rule, Where: r.UID + ": " + where,
		What: fmt.Sprintf(format, args...)})
}

// panels calls do for every panel that shows data of Prometheus.
func (r *run) panels(do func(where string, p grafana.Panel)) {
	for _, p := range r.All() {
		if p.AsksPrometheus() {
			do(fmt.Sprintf("panel %d %q", p.ID, p.Title), p)
		}
	}
}

// targets calls do for every query.
func (r *run) targets(do func(where string, t grafana.Target)) {
	r.panels(func(where string, p grafana.Panel) {
		for _, t := range p.Targets {
			do(where+" "+t.RefID, t)
		}
	})
}

// trees calls do for every query that parses; that all do is a rule of its own.
func (r *run) trees(do func(where string, tree parser.Expr)) {
	r.targets(func(where string, t grafana.Target) {
		if tree, err := r.parse(t.Expr); err == nil {
			do(where, tree)
		}
	})
}

// selectors calls do for every use of a metric in a query.
func (r *run) selectors(do func(where string, s promql.Selector)) {
	r.trees(func(where string, tree parser.Expr) {
		for _, s := range promql.Selectors(tree) {
			do(where, s)
		}
	})
}

func (r *run) parse(expr string) (parser.Expr, error) {
	vars := map[string]string{}
	for _, v := range r.Templating.List {
		vars[v.Name] = "$" + v.Name // stays, so that matchers can be recognised
	}
	text, unknown := promql.Fill(expr, vars)
	if len(unknown) > 0 {
		return nil, fmt.Errorf("unknown variables: %s", strings.Join(unknown, ", "))
	}
	return promql.Parse(text)
}

func (r *run) variable(name string) (grafana.Variable, bool) {
	for _, v := range r.Templating.List {
		if v.Name == name {
			return v, true
		}
	}
	return grafana.Variable{}, false
}

var legendLabel = regexp.MustCompile(`\{\{\s*(\w+)\s*\}\}`)
