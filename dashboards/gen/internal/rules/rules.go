// Package rules makes the recording rules and the alerts.
package rules

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"go.yaml.in/yaml/v3"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// Header starts every file that is written.
const Header = "# Written by dashboards/gen. Change it there: its defaults, or its -config.\n"

// Group is a group of rules. Rules of one group see each other's results.
type Group struct {
	Name     string         `yaml:"name"`
	Interval model.Duration `yaml:"interval"`
	Rules    []rulefmt.Rule `yaml:"rules"`
}

// File is a rule file.
type File struct {
	Name   string
	Groups []Group
}

// Files returns all rules.
func Files(c config.Config) ([]File, error) {
	m := maker{config: c}
	files := []File{
		{Name: "recording.yaml", Groups: m.recordings()},
		{Name: "slo.yaml", Groups: []Group{m.group("distributed-lock-slo", m.burns())}},
		{Name: "alerts.yaml", Groups: []Group{
			m.ofOutage(),
			m.group("distributed-lock-resources", m.resources()),
			m.group("distributed-lock-nodes", m.nodes()),
			m.group("distributed-lock-scanner", m.scanner()),
		}},
	}
	for _, f := range files {
		for _, g := range f.Groups {
			if err := pretty(g.Rules); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return files, nil
}

func pretty(rules []rulefmt.Rule) error {
	for i := range rules {
		text, err := promql.Pretty(rules[i].Expr)
		if err != nil {
			return fmt.Errorf("%s%s: %w", rules[i].Record, rules[i].Alert, err)
		}
		rules[i].Expr = text
	}
	return nil
}

// YAML returns the file as Prometheus reads it.
func (f File) YAML() ([]byte, error) {
	return encode(struct {
		Groups []Group `yaml:"groups"`
	}{f.Groups})
}

// Manifest returns all files as one PrometheusRule of the Prometheus Operator.
func Manifest(files []File) ([]byte, error) {
	var spec struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Name   string            `yaml:"name"`
			Labels map[string]string `yaml:"labels"`
		} `yaml:"metadata"`
		Spec struct {
			Groups []Group `yaml:"groups"`
		} `yaml:"spec"`
	}
	spec.APIVersion, spec.Kind = "monitoring.coreos.com/v1", "PrometheusRule"
	spec.Metadata.Name = "distributed-lock"
	spec.Metadata.Labels = map[string]string{"app.kubernetes.io/name": "lockscope"}
	for _, f := range files {
		spec.Spec.Groups = append(spec.Spec.Groups, f.Groups...)
	}
	return encode(spec)
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(Header)
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	err := e.Encode(v)
	return b.Bytes(), err
}

// maker makes rules of one configuration.
type maker struct{ config config.Config }

func (m maker) group(name string, rules []rulefmt.Rule) Group {
	return Group{Name: name, Interval: m.config.Interval, Rules: rules}
}

// expr fills in a template: pairs are placeholders and their values.
func (m maker) expr(template string, pairs ...string) string {
	return m.fill(strings.NewReplacer(longestFirst(pairs)...).Replace(template))
}

// fill puts the cluster label beside the job wherever processes are distinguished: the same job in two clusters
// is two jobs.
func (m maker) fill(text string) string {
	const cluster = deploy.ClusterLabel + ", "
	return strings.NewReplacer("$CLUSTER ", cluster, "$JOB", cluster+"job").Replace(text)
}

// longestFirst sorts pairs so that $WAITS is replaced before $W.
func longestFirst(pairs []string) []string {
	all := slices.Collect(slices.Chunk(pairs, 2))
	slices.SortStableFunc(all, func(a, b []string) int { return len(b[0]) - len(a[0]) })
	return slices.Concat(all...)
}

func (m maker) record(name, template string, pairs ...string) rulefmt.Rule {
	return rulefmt.Rule{Record: name, Expr: promql.Forms(m.expr(template, pairs...))}
}

// seconds formats a duration as PromQL seconds.
func seconds(d model.Duration) string { return number(float64(d) / 1e9) }

func number(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%g", v), ".0") }
