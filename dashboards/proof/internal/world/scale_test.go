package world

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards"
)

func TestScale(t *testing.T) {
	for text, want := range map[string]string{
		"rate(x_total[5m]) > 20":                        "rate(x_total[10s]) > 20",
		"sum_over_time(x:rate5m[1h]) * 60 > 2.5":        "sum_over_time(x:rate5m[2m]) * 2 > 2.5",
		"x offset 5m":                                   "x offset 10s",
		"count_over_time((x > 0)[6h:1m])":               "count_over_time((x > 0)[12m:2s])",
		"time() - x > 900 or y > time() - 30 * 86400":   "time() - x > 30 or y > time() - 30 * 2880",
		`histogram_quantile(0.99, x_bucket{le="60"})`:   `histogram_quantile(0.99, x_bucket{le="60"})`,
		"max_over_time(up[1h] offset 5m) unless y > 25": "max_over_time(up[2m] offset 10s) unless y > 25",
	} {
		got, err := scale([]byte("groups: [{interval: 1m, rules: [{for: 15m, keep_firing_for: 1h, expr: '"+text+
			"'}]}]"), 2*time.Second)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var f scaledFile
		if err := yaml.Unmarshal(got, &f); err != nil {
			t.Fatal(err)
		}
		if g, r := f.Groups[0], f.Groups[0].Rules[0]; g.Interval != "2s" || r.For != "30s" || r.Keep != "2m" ||
			r.Expr != want {
			t.Errorf("%s: %+v", text, f)
		}
	}
	for _, wrong := range []string{"groups: [{interval: soon}]", "groups: [{rules: [{expr: 'x >'}]}]", "groups: ["} {
		if _, err := scale([]byte(wrong), time.Second); err == nil {
			t.Errorf("%s is taken for rules", wrong)
		}
	}
}

type scaledFile struct {
	Groups []struct {
		Interval string
		Rules    []struct {
			Expr, For string
			Keep      string `yaml:"keep_firing_for"`
		}
	}
}

// TestNumbersThatAreTimes: of all numbers in the shipped rules, those from a minute up are seconds. Check a new one by
// hand.
func TestNumbersThatAreTimes(t *testing.T) {
	seconds := []float64{60, 120, 300, 600, 900, 8640, 86400, 259200}
	seen := make(map[float64]bool)
	names, err := fs.Glob(dashboards.FS(), "rules/*.yaml")
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(dashboards.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		var f scaledFile
		if err := yaml.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				tree, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
				if err != nil {
					t.Fatal(err)
				}
				parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
					if n, ok := n.(*parser.NumberLiteral); ok && n.Val >= secondsFrom {
						seen[n.Val] = true
						if !slices.Contains(seconds, n.Val) {
							t.Errorf("%s: is %v a time in seconds? %s", name, n.Val,
								strings.Join(strings.Fields(r.Expr), " "))
						}
					}
					return nil
				})
			}
		}
	}
	if len(seen) != len(seconds) {
		t.Errorf("seen are %v, not all of %v", seen, seconds)
	}
	if d, err := model.ParseDuration("5m"); err != nil || scaled(time.Duration(d), 2*time.Second) != 10*time.Second {
		t.Error("five minutes of two seconds are not ten seconds")
	}
}
