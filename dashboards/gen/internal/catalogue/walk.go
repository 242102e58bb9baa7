package catalogue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// walk finds out which labels the result of an expression has.
type walk struct {
	catalogue *Catalogue
	bad       []error
}

func (w *walk) wrong(format string, args ...any) { w.bad = append(w.bad, fmt.Errorf(format, args...)) }

func (w *walk) labels(node parser.Node) []string {
	switch n := node.(type) {
	case *parser.VectorSelector:
		return w.selector(n)
	case *parser.MatrixSelector:
		return w.labels(n.VectorSelector)
	case *parser.ParenExpr:
		return w.labels(n.Expr)
	case *parser.UnaryExpr:
		return w.labels(n.Expr)
	case *parser.SubqueryExpr:
		return w.labels(n.Expr)
	case *parser.StepInvariantExpr:
		return w.labels(n.Expr)
	case *parser.AggregateExpr:
		return w.aggregate(n)
	case *parser.BinaryExpr:
		return w.binary(n)
	case *parser.Call:
		return w.call(n)
	default:
		return nil
	}
}

func (w *walk) selector(n *parser.VectorSelector) []string {
	var have []string
	for _, m := range n.LabelMatchers {
		if m.Name == labels.MetricName {
			have = w.named(m)
		}
	}
	for _, m := range n.LabelMatchers {
		if m.Name != labels.MetricName && have != nil && !slices.Contains(have, m.Name) {
			w.wrong("%s has no label %s", n, m.Name)
		}
	}
	return have
}

// named returns the labels that all metrics with a name that matches have.
func (w *walk) named(m *labels.Matcher) []string {
	var have []string
	for name, of := range w.catalogue.labels {
		switch {
		case !m.Matches(name):
		case have == nil:
			have = of
		default:
			have = slices.DeleteFunc(slices.Clone(have), func(l string) bool { return !slices.Contains(of, l) })
		}
	}
	if have == nil {
		w.wrong("no metric is called %s", m.Value)
	}
	return have
}

func (w *walk) aggregate(n *parser.AggregateExpr) []string {
	inner := w.labels(n.Expr)
	w.need(inner, n.Grouping, n.Expr)
	switch {
	case n.Op == parser.TOPK || n.Op == parser.BOTTOMK:
		return inner
	case n.Without:
		return slices.DeleteFunc(slices.Clone(inner), func(l string) bool { return slices.Contains(n.Grouping, l) })
	default:
		return n.Grouping
	}
}

func (w *walk) binary(n *parser.BinaryExpr) []string {
	left, right := w.labels(n.LHS), w.labels(n.RHS)
	m := n.VectorMatching
	if m == nil { // one of them is a number
		if n.LHS.Type() == parser.ValueTypeVector {
			return left
		}
		return right
	}
	if m.On {
		w.need(left, m.MatchingLabels, n.LHS)
		w.need(right, m.MatchingLabels, n.RHS)
	}
	switch {
	case n.Op.IsSetOperator(), m.Card != parser.CardOneToOne, !m.On:
		return append(slices.Clone(left), m.Include...)
	default:
		return m.MatchingLabels
	}
}

// call passes on the labels of the argument that is a vector.
func (w *walk) call(n *parser.Call) []string {
	var have []string
	for _, arg := range n.Args {
		if of := w.labels(arg); of != nil {
			have = of
		}
	}
	if n.Func.Name == "histogram_quantile" && !native(n) {
		w.need(have, []string{"le"}, n)
		have = slices.DeleteFunc(slices.Clone(have), func(l string) bool { return l == "le" })
	}
	return have
}

func (w *walk) need(have, want []string, where parser.Node) {
	for _, l := range want {
		if !slices.Contains(have, l) {
			w.wrong("%s has no label %s", where, l)
		}
	}
}

// native reports whether a quantile is that of a native histogram, which has no buckets of its own.
func native(n *parser.Call) bool {
	for _, s := range promql.Selectors(n) {
		if strings.Contains(s.Metric, "bucket") {
			return false
		}
	}
	return true
}
