// Package promql parses expressions, also those with Grafana's variables in them.
package promql

import (
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// RateInterval stands for $__rate_interval: a range that nobody writes by hand.
const RateInterval = 9*time.Minute + 59*time.Second

// Range stands for $__range.
const Range = 7*time.Hour + 59*time.Minute

var reference = regexp.MustCompile(`\$\{(\w+)(:\w+)?\}|\$(\w+)`)

// Fill replaces Grafana's variables by values that parse: those of vars, and
// stand-ins for the ones that are built in. It returns the names of unknown ones.
func Fill(expr string, vars map[string]string) (text string, unknown []string) {
	builtin := map[string]string{
		"__rate_interval": duration(RateInterval), "__range": duration(Range), "__interval": "30s",
	}
	text = reference.ReplaceAllStringFunc(expr, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		name := m[1] + m[3]
		for _, values := range []map[string]string{vars, builtin} {
			if v, ok := values[name]; ok {
				return v
			}
		}
		unknown = append(unknown, name)
		return ref
	})
	return text, unknown
}

func duration(d time.Duration) string { return strings.ReplaceAll(d.String(), "m0s", "m") }

// Parse parses an expression without variables.
func Parse(expr string) (parser.Expr, error) {
	return parser.NewParser(parser.Options{}).ParseExpr(expr)
}

// Pretty breaks an expression into lines.
func Pretty(expr string) (string, error) {
	tree, err := Parse(expr)
	if err != nil {
		return "", err
	}
	return parser.Prettify(tree), nil
}

// Selector is one use of a metric.
type Selector struct {
	Metric   string // empty if the name is matched by pattern
	Matchers []*labels.Matcher
	Parents  []parser.Node // outermost first
}

// Matcher returns the matcher of a label as it is written, or "".
func (s Selector) Matcher(label string) string {
	for _, m := range s.Matchers {
		if m.Name == label {
			return m.String()
		}
	}
	return ""
}

// Selectors lists the selectors of an expression.
func Selectors(tree parser.Expr) []Selector {
	var all []Selector
	parser.Inspect(tree, func(node parser.Node, path []parser.Node) error {
		if v, ok := node.(*parser.VectorSelector); ok {
			s := Selector{Metric: v.Name, Parents: append([]parser.Node(nil), path...)}
			for _, m := range v.LabelMatchers {
				if m.Name != labels.MetricName {
					s.Matchers = append(s.Matchers, m)
				} else if m.Type == labels.MatchEqual {
					s.Metric = m.Value
				}
			}
			all = append(all, s)
		}
		return nil
	})
	return all
}
