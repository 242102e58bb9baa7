package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
)

// Own are rules for these dashboards.
func Own() []Rule {
	return []Rule{
		{"catalogue-rule", "a metric or label that does not exist shows nothing", catalogued},
		{"legend-rule", "a legend with a label that the result has lost is blank", legends},
		{"pattern-variable-rule", "Grafana escapes the * of order:* only in variables that may have several values",
			patternVariables},
		{"integer-bound-rule", "Prometheus 2 stores le=\"1\" or le=\"1.0\", 3 the latter", integerBounds},
		{"classic-model-rule", "files of a newer model cannot be provisioned", classicModel},
		{"layout-rule", "holes and overlaps are moved about by Grafana", layout},
		{"link-rule", "a link to a dashboard that does not exist", links},
		{"alerts-rule", "alerts are marked in the charts", alertMarks},
		{"exemplar-rule", "from a slow wait to its trace in one click", exemplars},
		{"advice-rule", "a description says what is good", advice},
		{"threshold-rule", "a value that can be good or bad shows it", thresholds},
	}
}

func catalogued(r *run) {
	check := func(where, expr string) {
		tree, err := r.parse(expr)
		if err != nil {
			return
		}
		if _, err := r.catalogue.Check(tree); err != nil {
			r.found(where, "%v", err)
		}
	}
	r.targets(func(where string, t grafana.Target) { check(where, t.Expr) })
	for _, a := range r.Annotations.List {
		check("annotation "+a.Name, a.Expr)
	}
	for _, v := range r.Templating.List {
		if selector, _, err := v.LabelValues(); err == nil {
			check("variable "+v.Name, selector)
		}
	}
}

func legends(r *run) {
	r.targets(func(where string, t grafana.Target) {
		tree, err := r.parse(t.Expr)
		if err != nil {
			return
		}
		have, _ := r.catalogue.Check(tree)
		for _, m := range legendLabel.FindAllStringSubmatch(t.Legend, -1) {
			if !slices.Contains(have, m[1]) {
				r.found(where, "the legend %q names %s; the result has %v", t.Legend, m[1], have)
			}
		}
	})
}

func patternVariables(r *run) {
	r.selectors(func(where string, s promql.Selector) {
		for _, m := range s.Matchers {
			name, ok := strings.CutPrefix(m.Value, "$")
			if !ok {
				continue
			}
			if v, ok := r.variable(name); ok && !(m.Type == labels.MatchRegexp && v.Multi) {
				r.found(where, "%s: want =~ and a variable of several values", m)
			}
		}
	})
}

var integer = regexp.MustCompile(`^[0-9]+(\.0)?$`)

func integerBounds(r *run) {
	r.selectors(func(where string, s promql.Selector) {
		for _, m := range s.Matchers {
			if m.Name == labels.BucketLabel && integer.MatchString(m.Value) {
				r.found(where, `%s: write le=~"%s([.]0)?"`, m, strings.TrimSuffix(m.Value, ".0"))
			}
		}
	})
}

func classicModel(r *run) {
	const classic = 42
	if r.SchemaVersion != classic || r.UID == "" || !slices.Equal(r.Tags, []string{"distributed-lock"}) {
		r.found("dashboard", "schema %d, uid %q, tags %v", r.SchemaVersion, r.UID, r.Tags)
	}
	seen := map[int]bool{}
	for _, p := range r.All() {
		if p.ID == 0 || seen[p.ID] {
			r.found("panel "+p.Title, "id %d is not its own", p.ID)
		}
		seen[p.ID] = true
	}
}

// layout walks over the grid. What is below a folded row moves up when it is opened,
// and has a grid of its own.
func layout(r *run) {
	r.grid(r.Panels, 0)
	for _, p := range r.Panels {
		if p.Collapsed != (len(p.Panels) > 0) {
			r.found("row "+p.Title, "folded: %v, with %d panels", p.Collapsed, len(p.Panels))
		}
		if p.Collapsed {
			r.grid(p.Panels, p.GridPos.Y+p.GridPos.H)
		}
	}
}

// grid checks that every cell of a line belongs to one panel, from the line top on.
func (r *run) grid(panels []grafana.Panel, top int) {
	const columns = 24
	cells := map[[2]int]string{}
	bottom := top
	for _, p := range panels {
		g := p.GridPos
		if g.X+g.W > columns || g.W == 0 || g.H == 0 || g.Y < top {
			r.found("panel "+p.Title, "%+v is outside of the grid", g)
		}
		for y := g.Y; y < g.Y+g.H; y++ {
			for x := g.X; x < g.X+g.W; x++ {
				if other, taken := cells[[2]int{x, y}]; taken {
					r.found("panel "+p.Title, "overlaps %q", other)
					return
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		bottom = max(bottom, g.Y+g.H)
	}
	if holes := columns*(bottom-top) - len(cells); holes > 0 {
		r.found("layout", "%d cells are empty", holes)
	}
}

var boardPath = regexp.MustCompile(`^/d/([\w-]+)`)

func links(r *run) {
	if len(r.Links) == 0 || !slices.Contains(r.Links[0].Tags, "distributed-lock") {
		r.found("dashboard", "no links to the others")
	}
	r.panels(func(where string, p grafana.Panel) {
		for _, url := range p.Links() {
			outside := strings.HasPrefix(url, "http://") ||
				strings.HasPrefix(url, "https://") // runbooks, pages of processes
			if m := boardPath.FindStringSubmatch(url); !outside && (m == nil || !r.boards[m[1]]) {
				r.found(where, "link to %s", url)
			}
		}
	})
}

func alertMarks(r *run) {
	for _, a := range r.Annotations.List {
		if strings.HasPrefix(a.Expr, "ALERTS{") && a.Datasource.UID == "${datasource}" {
			return
		}
	}
	r.found("annotations", "no ALERTS")
}

// exemplars are recorded with waits and holds; where buckets of those are drawn, traces are marked.
func exemplars(r *run) {
	r.panels(func(where string, p grafana.Panel) {
		if p.Type != "timeseries" && p.Type != "heatmap" {
			return
		}
		for _, t := range p.Targets {
			tree, err := r.parse(t.Expr)
			if err != nil || t.Exemplar {
				continue
			}
			for _, s := range promql.Selectors(tree) {
				if s.Metric == "distributed_lock_wait_seconds_bucket" ||
					s.Metric == "distributed_lock_hold_seconds_bucket" {
					r.found(where+" "+t.RefID, "draws %s without exemplars", s.Metric)
				}
			}
		}
	})
}

func advice(r *run) {
	r.panels(func(where string, p grafana.Panel) {
		if !strings.Contains(p.Description, "Good: ") {
			r.found(where, "the description does not say what is good")
		}
	})
}

func thresholds(r *run) {
	r.panels(func(where string, p grafana.Panel) {
		if p.Type == "stat" && len(p.FieldConfig.Defaults.Thresholds.Steps) == 0 {
			r.found(where, "no thresholds")
		}
	})
}
