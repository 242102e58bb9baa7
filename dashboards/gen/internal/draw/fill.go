package draw

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// filler expands shorthands.
type filler struct {
	*strings.Replacer        // for expressions and links
	told              string // the cluster part of a legend
}

// expr expands an expression and puts it on one line.
func (f filler) expr(text string) string { return promql.Forms(f.Replace(text)) }

// legend puts the cluster before its job or node.
func (f filler) legend(text string) string {
	for _, label := range []string{"{{job}}", "{{lock_node}}"} {
		if before, after, found := strings.Cut(text, label); found {
			return strings.TrimSpace(before + f.told + label + after)
		}
	}
	return text
}

// newFiller expands the shorthands of the package's doc. It adds the cluster label wherever a job is named. $LINKED
// passes the chosen clusters to another dashboard.
func newFiller() filler {
	const (
		label   = deploy.ClusterLabel
		matcher = label + `=~"$` + label + `"`
		listed  = label + ", "
		told    = "{{" + label + "}} "
		linked  = "&${" + label + ":queryparam}"
	)
	pairs := []string{"$JOB", listed + "job", "$CLUSTER ", listed, "$LINKED", linked}
	short := map[string]string{
		"I": `job=~"$job", instance=~"$instance"`,
		"R": `job=~"$job", instance=~"$instance", resource=~"$resource"`,
		"N": `job=~"$job", instance=~"$instance", lock_node=~"$lock_node"`,
		"S": `job=~"$job", resource=~"$resource"`,
		"M": `job=~"$job", lock_node=~"$lock_node"`,
		"J": `job=~"$job"`,
		"C": ``,
	}
	for _, name := range slices.Sorted(maps.Keys(short)) {
		all := strings.TrimPrefix(short[name]+", "+matcher, ", ")
		pairs = append(pairs, "{"+name+"}", "{"+all+"}", "{"+name+",", "{"+all+", ")
	}
	return filler{strings.NewReplacer(pairs...), told}
}
