package deploy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// bucketLabel is the label with the bound of a bucket.
const bucketLabel = "le"

func parse(text string) (parser.Expr, error) {
	return parser.NewParser(parser.Options{}).ParseExpr(text)
}

// rewrite applies the settings to any expression, in rules and on boards.
func (s Settings) rewrite(tree parser.Expr) error {
	selector, err := s.matchers()
	if err != nil {
		return err
	}
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		switch n := node.(type) {
		case *parser.AggregateExpr:
			n.Grouping = s.apart(n.Grouping)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				n.VectorMatching.MatchingLabels = s.apart(n.VectorMatching.MatchingLabels)
				n.VectorMatching.Include = s.apart(n.VectorMatching.Include)
			}
		case *parser.VectorSelector:
			if scraped(n) {
				n.LabelMatchers = append(slices.Clone(selector), n.LabelMatchers...)
			}
			s.promised(n)
		}
		return nil
	})
	return nil
}

// apart replaces cluster with the labels in a list.
func (s Settings) apart(list []string) []string {
	i := slices.Index(list, ClusterLabel)
	if s.Labels == nil || i < 0 {
		return list
	}
	there := func(l string) bool { return l != ClusterLabel && slices.Contains(list, l) }
	own := slices.DeleteFunc(slices.Clone(s.Labels), there)
	return slices.Replace(slices.Clone(list), i, i+1, own...)
}

// scraped reports whether a series is neither recorded by a rule nor an alert.
func scraped(v *parser.VectorSelector) bool {
	name := metric(v)
	return !strings.Contains(name, ":") && name != "ALERTS" && name != "ALERTS_FOR_STATE"
}

func metric(v *parser.VectorSelector) string {
	for _, m := range v.LabelMatchers {
		if m.Name == labels.MetricName {
			return m.Value
		}
	}
	return v.Name
}

// promised changes the limit of good waits.
func (s Settings) promised(v *parser.VectorSelector) {
	within, shipped := s.Objectives.orShipped().Within, ShippedObjectives().Within
	if within == shipped || !strings.Contains(metric(v), "distributed_lock_wait_seconds_bucket") {
		return
	}
	for i, m := range v.LabelMatchers {
		if m.Name == bucketLabel && m.Type == labels.MatchEqual && m.Value == number(shipped) {
			v.LabelMatchers[i] = Bound(within)
		}
	}
}

// Bound returns a matcher for the bucket with this bound. Prometheus 2 stores the bound 1 as "1" or "1.0",
// depending on the scrape format; Prometheus 3 stores "1.0".
func Bound(le float64) *labels.Matcher {
	text := strconv.FormatFloat(le, 'f', -1, 64)
	if strings.Contains(text, ".") {
		return labels.MustNewMatcher(labels.MatchEqual, bucketLabel, text)
	}
	return labels.MustNewMatcher(labels.MatchRegexp, bucketLabel, text+"([.]0)?")
}

// replace replaces a number on the right side of an operation on two numbers, as in 14.4 * 0.001 or
// 1 - 0.999.
func replace(tree parser.Expr, op parser.ItemType, from, to float64) {
	parser.Inspect(tree, func(node parser.Node, _ []parser.Node) error {
		n, ok := node.(*parser.BinaryExpr)
		if !ok || n.Op != op {
			return nil
		}
		_, left := n.LHS.(*parser.NumberLiteral)
		if right, ok := n.RHS.(*parser.NumberLiteral); ok && left && right.Val == from {
			right.Val = to
		}
		return nil
	})
}
