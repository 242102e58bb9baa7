package world

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// secondsFrom is the smallest number in a rule that is a time in seconds. Smaller numbers are shares, counts, and waits
// of callers, which do not get shorter with the minutes.
const secondsFrom = 60

// scale shortens every time in a rule file, so that a minute lasts as long as given: intervals, waits, ranges, offsets,
// and numbers that are seconds. A rule then finds in minutes what it would find in hours, from as many samples.
func scale(text []byte, minute time.Duration) ([]byte, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if err := scaleNode(&file, minute); err != nil {
		return nil, err
	}
	return yaml.Marshal(&file)
}

func scaleNode(n *yaml.Node, minute time.Duration) error {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode {
			if err := scaleField(n.Content[i-1].Value, child, minute); err != nil {
				return fmt.Errorf("line %d: %w", child.Line, err)
			}
			continue
		}
		if err := scaleNode(child, minute); err != nil {
			return err
		}
	}
	return nil
}

func scaleField(key string, value *yaml.Node, minute time.Duration) error {
	switch {
	case slices.Contains([]string{"interval", "for", "keep_firing_for"}, key):
		d, err := model.ParseDuration(value.Value)
		value.Value = model.Duration(scaled(time.Duration(d), minute)).String()
		return err
	case key == "expr":
		tree, err := parser.NewParser(parser.Options{}).ParseExpr(value.Value)
		if err != nil {
			return err
		}
		scaleTimes(tree, minute)
		value.Value = tree.String()
	}
	return nil
}

func scaleTimes(tree parser.Expr, minute time.Duration) {
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			n.OriginalOffset = scaled(n.OriginalOffset, minute)
		case *parser.MatrixSelector:
			n.Range = scaled(n.Range, minute)
		case *parser.SubqueryExpr:
			n.Range, n.Step, n.OriginalOffset = scaled(n.Range, minute), scaled(n.Step, minute),
				scaled(n.OriginalOffset, minute)
		case *parser.NumberLiteral:
			if n.Val >= secondsFrom {
				n.Val *= minute.Minutes()
			}
		}
		return nil
	})
}

func scaled(d, minute time.Duration) time.Duration {
	return time.Duration(float64(d) * minute.Minutes())
}
