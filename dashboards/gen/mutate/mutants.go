package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// mutant is a rule in which one thing is different.
type mutant struct {
	group string
	index int // in its group
	rule  rulefmt.Rule
	what  string
}

// String names the rule and what is different; of several places in a rule that read the same the second is
// marked (2), and so on.
func (m mutant) String() string { return name(m.rule) + " " + severity(m.rule) + ": " + m.what }

func name(r rulefmt.Rule) string { return r.Alert + r.Record }

// severity tells the rules of an alert with several apart.
func severity(r rulefmt.Rule) string {
	return r.Labels["severity"] + cmp.Or(r.Labels["long_window"], r.Labels["short_window"])
}

// mutants lists all there are, in the order of the rules.
func mutants(files []rules.File) ([]mutant, error) {
	var all []mutant
	for _, f := range files {
		for _, g := range f.Groups {
			for i, r := range g.Rules {
				changed, err := change(r)
				if err != nil {
					return nil, err
				}
				for _, m := range changed {
					m.group, m.index = g.Name, i
					all = append(all, m)
				}
			}
		}
	}
	return all, nil
}

// change makes the mutants of a rule. An expression is changed in place, written down and
// changed back.
func change(r rulefmt.Rule) ([]mutant, error) {
	tree, err := promql.Parse(r.Expr)
	if err != nil {
		return nil, err
	}
	all := waits(r)
	alike := make(map[string]int)
	parser.Inspect(tree, func(node parser.Node, path []parser.Node) error {
		if unseen(node) || slices.ContainsFunc(path, unseen) {
			return nil
		}
		for _, e := range edits(node) {
			e.do()
			m := mutant{rule: r, what: numbered(e.what, alike)}
			m.rule.Expr = tree.String()
			e.undo()
			if _, err := promql.Parse(m.rule.Expr); err == nil && m.rule.Expr != tree.String() {
				all = append(all, m)
			}
		}
		return nil
	})
	return all, nil
}

// unseen reports whether an expression has no value without a native histogram. The promtool of Prometheus 2.42 has no
// input for those: a test of dashboards/proof has.
func unseen(n parser.Node) bool {
	switch n := n.(type) {
	case *parser.Call:
		return slices.Contains([]string{"histogram_count", "histogram_sum", "histogram_fraction"}, n.Func.Name) ||
			slices.ContainsFunc(n.Args, func(e parser.Expr) bool { return unseen(e) }) ||
			n.Func.Name == "histogram_quantile" && !ofBuckets(n.Args[1])
	case *parser.BinaryExpr:
		switch n.Op {
		case parser.LOR:
			return unseen(n.LHS) && unseen(n.RHS)
		case parser.LAND, parser.LUNLESS:
			return unseen(n.LHS)
		}
		return unseen(n.LHS) || unseen(n.RHS)
	case *parser.AggregateExpr:
		return unseen(n.Expr)
	case *parser.SubqueryExpr:
		return unseen(n.Expr)
	case *parser.ParenExpr:
		return unseen(n.Expr)
	}
	return false
}

// ofBuckets reports whether a quantile is that of a classic histogram, whose buckets differ in le.
func ofBuckets(n parser.Node) bool {
	sum, ok := n.(*parser.AggregateExpr)
	return !ok || slices.Contains(sum.Grouping, "le")
}

// numbered tells a text from those before it that read the same.
func numbered(what string, alike map[string]int) string {
	alike[what]++
	if n := alike[what]; n > 1 {
		return fmt.Sprintf("%s (%d)", what, n)
	}
	return what
}

// every is how often rules are evaluated: that an alert waits for once more or less is to be noticed.
const every = model.Duration(time.Minute)

// waits changes how long an alert waits, and how long it stays.
func waits(r rulefmt.Rule) []mutant {
	var all []mutant
	add := func(what string, set func(*rulefmt.Rule, model.Duration), was, is model.Duration) {
		m := mutant{rule: r, what: fmt.Sprintf("%s %s -> %s", what, was, is)}
		set(&m.rule, is)
		all = append(all, m)
	}
	if r.For > 0 {
		hold := func(r *rulefmt.Rule, d model.Duration) { r.For = d }
		add("for", hold, r.For, r.For*3/2)
		add("for", hold, r.For, r.For/2)
		for _, to := range []model.Duration{r.For + every, r.For - every} {
			if to >= 0 && to != r.For*3/2 && to != r.For/2 {
				add("for", hold, r.For, to)
			}
		}
	}
	if r.KeepFiringFor > 0 {
		keep := func(r *rulefmt.Rule, d model.Duration) { r.KeepFiringFor = d }
		add("keep_firing_for", keep, r.KeepFiringFor, r.KeepFiringFor*3/2)
		add("keep_firing_for", keep, r.KeepFiringFor, 0)
	}
	return all
}

// edit is a change of a node that can be taken back.
type edit struct {
	what     string
	do, undo func()
}

func set[T any](at *T, to T, what string) edit {
	was := *at
	return edit{what: what, do: func() { *at = to }, undo: func() { *at = was }}
}

func edits(node parser.Node) []edit {
	switch n := node.(type) {
	case *parser.NumberLiteral:
		return numbers(n)
	case *parser.MatrixSelector:
		return ranges(&n.Range)
	case *parser.SubqueryExpr:
		return append(ranges(&n.Range), offsets(&n.OriginalOffset)...)
	case *parser.AggregateExpr:
		return append(grouping(&n.Grouping, "by"), aggregate(n)...)
	case *parser.BinaryExpr:
		return binary(n)
	case *parser.VectorSelector:
		return append(matchers(n), offsets(&n.OriginalOffset)...)
	default:
		return nil
	}
}

func numbers(n *parser.NumberLiteral) []edit {
	var all []edit
	for _, to := range []float64{n.Val * 1.4, n.Val * 0.6} {
		if n.Val == 0 {
			to = 0.9
		}
		all = append(all, set(&n.Val, to, fmt.Sprintf("%v -> %s", n.Val, strconv.FormatFloat(to, 'g', 4, 64))))
	}
	return slices.CompactFunc(all, func(a, b edit) bool { return a.what == b.what })
}

func ranges(d *time.Duration) []edit {
	what := func(to time.Duration) string {
		return fmt.Sprintf("[%s] -> [%s]", model.Duration(*d), model.Duration(to))
	}
	var all []edit
	for _, to := range []time.Duration{*d * 2, *d / 2, *d * 6 / 5, *d * 4 / 5} {
		all = append(all, set(d, to, what(to)))
	}
	return all
}

// offsets looks back a fifth further, a fifth less far, and not at all.
func offsets(d *time.Duration) []edit {
	if *d == 0 {
		return nil
	}
	var all []edit
	for _, to := range []time.Duration{*d * 6 / 5, *d * 4 / 5, 0} {
		all = append(all, set(d, to, fmt.Sprintf("offset %s -> %s", model.Duration(*d), model.Duration(to))))
	}
	return all
}

// grouping leaves out one label after the other.
func grouping(of *[]string, word string) []edit {
	var all []edit
	for i, l := range *of {
		all = append(all, set(of, slices.Delete(slices.Clone(*of), i, i+1), word+" without "+l))
	}
	return all
}

func aggregate(n *parser.AggregateExpr) []edit {
	other := map[parser.ItemType]parser.ItemType{parser.MAX: parser.MIN, parser.SUM: parser.MAX, parser.AVG: parser.MAX,
		parser.COUNT: parser.MAX}
	if to, ok := other[n.Op]; ok {
		return []edit{set(&n.Op, to, n.Op.String()+" -> "+to.String())}
	}
	return nil
}

func binary(n *parser.BinaryExpr) []edit {
	others := map[parser.ItemType][]parser.ItemType{
		parser.GTR: {parser.LSS, parser.GTE}, parser.LSS: {parser.LTE}, parser.GTE: {parser.GTR},
		parser.LTE: {parser.LSS}, parser.EQLC: {parser.NEQ},
		parser.LAND: {parser.LUNLESS}, parser.LUNLESS: {parser.LAND}, parser.LOR: {parser.LAND},
		parser.ADD: {parser.SUB}, parser.SUB: {parser.ADD}, parser.MUL: {parser.DIV}, parser.DIV: {parser.MUL},
	}
	if n.Op == parser.LOR && unseen(n.RHS) && unseen(before(n)) {
		delete(others, n.Op)
	}
	var all []edit
	for _, to := range others[n.Op] {
		all = append(all, set(&n.Op, to, n.Op.String()+" -> "+to.String()))
	}
	if n.VectorMatching != nil && n.VectorMatching.On {
		all = append(all, grouping(&n.VectorMatching.MatchingLabels, "on")...)
	}
	return all
}

// before returns what "and" has on its left where it replaces an "or", since it binds more closely: of x or y or z, y.
func before(n *parser.BinaryExpr) parser.Expr {
	if left, ok := n.LHS.(*parser.BinaryExpr); ok && left.Op == parser.LOR {
		return left.RHS
	}
	return n.LHS
}

// matchers leaves them out, one after the other.
func matchers(n *parser.VectorSelector) []edit {
	var all []edit
	for i, m := range n.LabelMatchers {
		if m.Name != labels.MetricName {
			all = append(all, set(&n.LabelMatchers, slices.Delete(slices.Clone(n.LabelMatchers), i, i+1), "without "+
				m.String()))
		}
	}
	return all
}
