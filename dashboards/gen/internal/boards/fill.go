package boards

import (
	"maps"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/dashboards/deploy"
)

// filler writes out shorthands.
type filler struct {
	*strings.Replacer        // those of expressions and links
	told              string // the cluster, in a legend
}

// expr is on one line.
func (f filler) expr(text string) string { return strings.Join(strings.Fields(f.Replace(text)), " ") }

// legend puts the cluster before the job, or the node, that it belongs to.
func (f filler) legend(text string) string {
	for _, label := range []string{"{{job}}", "{{lock_node}}"} {
		if before, after, found := strings.Cut(text, label); found {
			return strings.TrimSpace(before + f.told + label + after)
		}
	}
	return text
}

// newFiller puts the label of clusters wherever a job is named.
//
// Of the selectors, {R} has a resource, {N} a lock_node, {I} only its process; {S} and {M}
// are recorded for a resource or a node of all processes, {J} for a job, {C} for nothing of
// those. $JOB and $CLUSTER stand in lists of labels, as they do in the rules: the same job
// in two clusters is two. $LINKED passes the chosen clusters on to another dashboard.
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
