// Package catalogue knows which metrics there are and which labels they have, from
// the tables in the package documentation of those who make them.
package catalogue

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// Catalogue is what may be named in an expression.
type Catalogue struct {
	labels map[string][]string // by series name
}

// Target labels are added to every scraped series by Prometheus.
var targetLabels = []string{"job", "instance"}

// alertLabels are those of the alerts of all rules.
var alertLabels = []string{"alertname", "severity", "job", "instance", "resource", "backend", "lock_node", "reason",
	"group", "holder", "short_window"}

// Read reads the tables in these Go files.
func Read(paths ...string) (*Catalogue, error) {
	c := &Catalogue{labels: map[string][]string{
		"up":                         targetLabels,
		"process_start_time_seconds": targetLabels,
		rules.Expected:               {"resource"},
		rules.Queues:                 {"resource"},
		"ALERTS":                     append([]string{"alertstate"}, alertLabels...),
		"ALERTS_FOR_STATE":           alertLabels,
	}}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		before := len(c.labels)
		for line := range strings.Lines(string(text)) {
			if row, ok := strings.CutPrefix(line, "//\tdistributed_lock_"); ok {
				c.add("distributed_lock_" + row)
			}
		}
		if len(c.labels) == before {
			return nil, fmt.Errorf("%s: no table of metrics", path)
		}
	}
	return c, nil
}

// add takes a row of name, type and labels.
func (c *Catalogue) add(row string) {
	cells := strings.Fields(row)
	name, kind := cells[0], cells[1]
	labels := slices.Clone(targetLabels)
	for _, l := range cells[2:] {
		labels = append(labels, strings.TrimSuffix(l, ","))
	}
	if kind != "histogram" {
		c.labels[name] = labels
		return
	}
	c.labels[name], c.labels[name+"_count"], c.labels[name+"_sum"] = labels, labels, labels // native, and classic
	c.labels[name+"_bucket"] = append(slices.Clone(labels), "le")
}

// AddRecorded adds series that recording rules make. Their labels are the part of
// the name before the first colon.
func (c *Catalogue) AddRecorded(files []rules.File) error {
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Record == "" {
					continue
				}
				labels, err := level(r.Record)
				if err != nil {
					return err
				}
				c.labels[r.Record] = labels
			}
		}
	}
	return nil
}

// Clusters adds the labels that tell clusters apart to every series there is, but for
// objectives, which are the same in all clusters.
func (c *Catalogue) Clusters(labels []string) {
	for name, have := range c.labels {
		if name != rules.Expected && name != rules.Queues {
			c.labels[name] = slices.Concat(labels, have)
		}
	}
}

// level reads the labels off a recorded name; labels may have underscores themselves.
func level(name string) ([]string, error) {
	prefix, _, _ := strings.Cut(name, ":")
	var labels []string
	for prefix != "" {
		known := []string{"job", "instance", "resource", "backend", "lock_node", "class", "le", "reason", "group"}
		i := slices.IndexFunc(known, func(l string) bool { return prefix == l || strings.HasPrefix(prefix, l+"_") })
		if i < 0 {
			return nil, fmt.Errorf("%s: %q is no label", name, prefix)
		}
		labels = append(labels, known[i])
		prefix = strings.TrimPrefix(strings.TrimPrefix(prefix, known[i]), "_")
	}
	return labels, nil
}

// Has reports that a series has a label.
func (c *Catalogue) Has(series, label string) bool { return slices.Contains(c.labels[series], label) }

// Check names every metric and label in an expression that does not exist, and
// returns the labels that its result has.
func (c *Catalogue) Check(tree parser.Expr) (labels []string, err error) {
	w := walk{catalogue: c}
	labels = w.labels(tree)
	return labels, errors.Join(w.bad...)
}
