package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// clusterLabel is what shipped rules tell fleets apart by.
const clusterLabel = "cluster"

// bucketLabel is the bound of a bucket.
const bucketLabel = "le"

func parse(text string) (parser.Expr, error) {
	return parser.NewParser(parser.Options{}).ParseExpr(text)
}

// matchers are those of the selector.
func (s Settings) matchers() ([]*labels.Matcher, error) {
	if s.Selector == "" {
		return nil, nil
	}
	const metric = "m"
	found, err := parser.NewParser(parser.Options{}).ParseMetricSelector(metric + "{" + s.Selector + "}")
	if err != nil || strings.HasSuffix(strings.TrimSpace(s.Selector), ",") || len(found) < 2 {
		return nil, fmt.Errorf(`--selector %s: want matchers such as env="prod"`, s.Selector)
	}
	return slices.DeleteFunc(found, func(m *labels.Matcher) bool { return m.Name == labels.MetricName }), nil
}

// rewrite changes what every expression has, in rules and on boards.
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

// apart puts the labels into a list in the place of cluster.
func (s Settings) apart(list []string) []string {
	i := slices.Index(list, clusterLabel)
	if s.Labels == nil || i < 0 {
		return list
	}
	own := slices.DeleteFunc(slices.Clone(s.Labels), func(l string) bool { return l != clusterLabel && slices.Contains(list, l) })
	return slices.Replace(slices.Clone(list), i, i+1, own...)
}

// scraped reports that a series is neither recorded by a rule nor an alert.
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

// promised moves the limit of waits that are good.
func (s Settings) promised(v *parser.VectorSelector) {
	within := s.Objectives.numbers()[2]
	if within == shipped.Within || !strings.Contains(metric(v), "distributed_lock_wait_seconds_bucket") {
		return
	}
	for i, m := range v.LabelMatchers {
		if m.Name == bucketLabel && m.Type == labels.MatchEqual && m.Value == number(shipped.Within) {
			v.LabelMatchers[i] = bound(within)
		}
	}
}

// bound matches a bucket however it is spelled: 1 or 1.0.
func bound(le float64) *labels.Matcher {
	text := strconv.FormatFloat(le, 'f', -1, 64)
	if strings.Contains(text, ".") {
		return labels.MustNewMatcher(labels.MatchEqual, bucketLabel, text)
	}
	return labels.MustNewMatcher(labels.MatchRegexp, bucketLabel, text+"([.]0)?")
}

// replace puts another number in the place of one that is the right side of an operation on two numbers:
// 14.4 * 0.001 or 1 - 0.999.
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
