package lint

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/units"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// Common are those of the rules of dashboard-linter that apply; the two about Loki do not: a
// selector of logs is configured.
func Common() []Rule {
	return []Rule{
		{"template-datasource-rule", "one data source for numbers, chosen by the reader", templateDatasource},
		{"template-job-rule", "readers look for a variable job", func(r *run) { r.target("job", "Job") }},
		{"template-instance-rule", "readers look for a variable instance",
			func(r *run) { r.target("instance", "Instance") }},
		{"template-label-promql-rule", "a variable without values empties every panel", templateQueries},
		{"template-on-time-change-reload-rule", "a variable must know what there was in the time shown",
			templateReload},
		{"panel-datasource-rule", "a panel with another data source shows other data", panelDatasource},
		{"panel-title-description-rule", "a number without a meaning helps nobody", panelTexts},
		{"panel-units-rule", "0.2 may be seconds or a share", panelUnits},
		{"panel-no-targets-rule", "a panel without a query is empty", panelTargets},
		{"target-promql-rule", "a query that does not parse shows an error", targetPromQL},
		{"target-rate-interval-rule", "another range misses samples, or smooths them away", targetRateInterval},
		{"target-job-rule", "the variable job must have an effect", func(r *run) { r.matched("job") }},
		{"target-instance-rule", "the variable instance must have an effect", func(r *run) { r.matched("instance") }},
		{"target-counter-agg-rule", "a counter as it is says how old the process is", targetCounters},
		{"uneditable-dashboard", "changes in the browser are lost with the next version", uneditable},
	}
}

func templateDatasource(r *run) {
	var sources []grafana.Variable
	for _, v := range r.Templating.List {
		if v.Type == "datasource" && v.Text() != "loki" && v.Text() != "tempo" {
			sources = append(sources, v)
		}
	}
	if len(sources) != 1 {
		r.found("variables", "%d data sources, want one", len(sources))
		return
	}
	if v := sources[0]; v.Name != "datasource" || v.Label != "Data source" || v.Text() != "prometheus" {
		r.found("variable "+v.Name, "want datasource, labelled Data source, of type prometheus")
	}
}

// target checks the variable of a label that every scraped series has.
func (r *run) target(name, label string) {
	v, ok := r.variable(name)
	switch {
	case !ok:
		r.found("variables", "no variable %s", name)
	case v.Type != "query" || v.Datasource.UID != "${datasource}" || v.Label != label || !v.Multi || v.AllValue != ".+":
		r.found("variable "+name, "want a query on ${datasource}, labelled %s, of several values, with .+ for all",
			label)
	}
}

func templateQueries(r *run) {
	for _, v := range r.Templating.List {
		if v.Type != "query" {
			continue
		}
		selector, label, err := v.LabelValues()
		if err != nil {
			r.found("variable "+v.Name, "%v", err)
			continue
		}
		tree, err := r.parse(selector)
		if err != nil {
			r.found("variable "+v.Name, "%v", err)
			continue
		}
		if label != v.Name || len(promql.Selectors(tree)) != 1 {
			r.found("variable "+v.Name, "asks for the label %s of %s", label, selector)
		}
	}
}

func templateReload(r *run) {
	const onTimeChange = 2
	for _, v := range r.Templating.List {
		if v.Type == "query" && v.Refresh != onTimeChange {
			r.found("variable "+v.Name, "refresh is %d, want %d", v.Refresh, onTimeChange)
		}
	}
}

func panelDatasource(r *run) {
	r.panels(func(where string, p grafana.Panel) {
		if p.Datasource.UID != "${datasource}" || p.Datasource.Type != "prometheus" {
			r.found(where, "data source is %+v", p.Datasource)
		}
	})
	r.targets(func(where string, t grafana.Target) {
		if t.Datasource.UID != "${datasource}" {
			r.found(where, "data source is %+v", t.Datasource)
		}
	})
}

func panelTexts(r *run) {
	r.panels(func(where string, p grafana.Panel) {
		if strings.TrimSpace(p.Title) == "" || strings.TrimSpace(p.Description) == "" {
			r.found(where, "needs a title and a description")
		}
	})
}

// known are the units in use here; every one of them is Grafana's. The last one is a number with a word behind it.
var known = map[string]bool{units.Seconds: true, units.PercentUnit: true, units.Short: true, units.OpsPerSecond: true,
	"suffix:callers": true, "locale": true} // locale: all digits of the number of a term

func panelUnits(r *run) {
	r.panels(func(where string, p grafana.Panel) {
		if unit := p.FieldConfig.Defaults.Unit; !known[unit] && len(p.FieldConfig.Defaults.Mappings) == 0 {
			r.found(where, "unit %q", unit)
		}
		for _, o := range p.FieldConfig.Overrides {
			for _, set := range o.Properties {
				if unit, _ := set.Value.(string); set.ID == "unit" && !known[unit] {
					r.found(where, "unit %q", set.Value)
				}
			}
		}
	})
}

func panelTargets(r *run) {
	r.panels(func(where string, p grafana.Panel) {
		if len(p.Targets) == 0 {
			r.found(where, "no query")
		}
	})
}

func targetPromQL(r *run) {
	r.targets(func(where string, t grafana.Target) {
		if _, err := r.parse(t.Expr); err != nil {
			r.found(where, "%s: %v", t.Expr, err)
		}
	})
}

func targetRateInterval(r *run) {
	r.trees(func(where string, tree parser.Expr) {
		parser.Inspect(tree, func(node parser.Node, path []parser.Node) error {
			m, ok := node.(*parser.MatrixSelector)
			if !ok || m.Range == promql.RateInterval || len(path) == 0 {
				return nil
			}
			call, ok := path[len(path)-1].(*parser.Call)
			if ok && (call.Func.Name == "rate" || call.Func.Name == "irate") {
				r.found(where, "%s over %s, want $__rate_interval", call.Func.Name, m.Range)
			}
			return nil
		})
	})
}

// matched checks that each metric is chosen by a variable, if it has that label:
// recorded series have lost some. Objectives of resources hold for all jobs, and
// the watchdog is of none.
func (r *run) matched(label string) {
	r.selectors(func(where string, s promql.Selector) {
		if r.catalogue.Has(s.Metric, label) && !strings.HasPrefix(s.Metric, "ALERTS") ||
			label == "job" && s.Metric != rules.Queues &&
				s.Matcher("alertname") != `alertname="DistributedLockWatchdog"` {
			if want := label + `=~"$` + label + `"`; s.Matcher(label) != want {
				r.found(where, "%s is not chosen by %s", s.Metric, want)
			}
		}
	})
}

func targetCounters(r *run) {
	r.selectors(func(where string, s promql.Selector) {
		if !strings.HasSuffix(s.Metric, "_total") {
			return
		}
		for _, parent := range s.Parents {
			call, ok := parent.(*parser.Call)
			if ok && (call.Func.Name == "rate" || call.Func.Name == "irate" || call.Func.Name == "increase") {
				return
			}
		}
		r.found(where, "counter %s outside of rate, irate and increase", s.Metric)
	})
}

func uneditable(r *run) {
	if r.Editable == nil || *r.Editable {
		r.found("dashboard", "editable is not false")
	}
}
