package boards_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/grafana"
	"github.com/lockscope/lockscope/dashboards/gen/internal/promql"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

// drawn is every dashboard of a configuration, by its uid.
func drawn(t *testing.T, c config.Config) map[string]grafana.Dashboard {
	t.Helper()
	return fitted(t, c, deploy.Settings{})
}

// fitted is the same for a fleet.
func fitted(t *testing.T, c config.Config, s deploy.Settings) map[string]grafana.Dashboard {
	t.Helper()
	all := map[string]grafana.Dashboard{}
	for _, f := range files(t, c, s) {
		d, err := grafana.Parse(f.Text)
		if err != nil {
			t.Fatal(err)
		}
		all[d.UID] = d
	}
	return all
}

func files(t *testing.T, c config.Config, s deploy.Settings) (all []deploy.File) {
	t.Helper()
	made, err := boards.Files(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made {
		file, err := s.Fit(deploy.File{Path: "grafana/" + f.Name, Text: f.JSON})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file)
	}
	return all
}

func variable(d grafana.Dashboard, name string) (grafana.Variable, bool) {
	i := slices.IndexFunc(d.Templating.List, func(v grafana.Variable) bool { return v.Name == name })
	if i < 0 {
		return grafana.Variable{}, false
	}
	return d.Templating.List[i], true
}

// watchdog selects the alert that always fires.
const watchdog = `alertname="DistributedLockWatchdog"`

// TestClusters wants every label that tells clusters apart to be chosen in every query,
// and to go along with every link.
func TestClusters(t *testing.T) {
	labels := []string{"cluster", "namespace"}
	for uid, d := range fitted(t, config.Default(), deploy.Settings{Labels: labels}) {
		vars := map[string]string{}
		for _, v := range d.Templating.List {
			vars[v.Name] = "$" + v.Name
		}
		for _, l := range labels {
			if v, ok := variable(d, l); !ok || !v.Multi || v.AllValue != ".*" {
				t.Errorf("%s: variable %s: %+v", uid, l, v)
			}
			for _, q := range d.Queries() {
				expr, _ := promql.Fill(q.Expr, vars)
				tree, err := promql.Parse(expr)
				if err != nil {
					t.Fatal(q.Panel, err)
				}
				for _, s := range promql.Selectors(tree) {
					if s.Metric == rules.Queues || s.Matcher("alertname") == watchdog { // the same in all clusters
						continue
					}
					if want := l + `=~"$` + l + `"`; s.Matcher(l) != want {
						t.Errorf("%s: %s: %s is not chosen by %s", uid, q.Panel, s.Metric, want)
					}
				}
			}
			for _, p := range d.All() {
				for _, url := range p.Links() {
					if strings.HasPrefix(url, "/d/") && !strings.Contains(url, "${"+l+":queryparam}") {
						t.Errorf("%s: %s: %s loses the %s", uid, p.Title, url, l)
					}
				}
			}
		}
	}
}

// TestNoClusters: without labels nothing is left of them.
func TestNoClusters(t *testing.T) {
	for _, f := range files(t, config.Default(), deploy.Settings{Labels: []string{}}) {
		if m := regexp.MustCompile(`cluster|\$CLUSTER|\$JOB|\$LINKED|\{[A-Z][,}]`).Find(f.Text); m != nil {
			t.Errorf("%s: %s", f.Path, m)
		}
	}
}

// TestJobsAreToldApart wants what is grouped by job to be grouped by cluster.
func TestJobsAreToldApart(t *testing.T) {
	for uid, d := range drawn(t, config.Default()) {
		for _, q := range d.Queries() {
			if m := regexp.MustCompile(`\((job|lock_node)\b[^)]*\)`).FindString(q.Expr); m != "" {
				t.Errorf("%s: %s groups by %s", uid, q.Panel, m)
			}
		}
	}
}

// TestOverview wants one screen of at most twelve panels, nothing folded, with the present state in the first line
// and objectives in the last.
func TestOverview(t *testing.T) {
	const most, lines = 12, 24 // a line is 38 pixels
	var titles []string
	bottom := 0
	for _, p := range drawn(t, config.Default())["lockscope-overview"].Panels {
		if p.IsRow() {
			t.Errorf("%s is a row", p.Title)
		}
		titles, bottom = append(titles, p.Title), max(bottom, p.GridPos.Y+p.GridPos.H)
	}
	if len(titles) > most || bottom > lines {
		t.Errorf("%d panels on %d lines: %q", len(titles), bottom, titles)
	}
	want := []string{"Nodes to spare", "Alerts firing", "Longest wait now", "Waiting now", "Acquires a second",
		"Leases lost", "Firing alerts"}
	if !slices.Equal(titles[:min(len(want), len(titles))], want) {
		t.Errorf("the first are %q", titles)
	}
	if at := slices.Index(titles, "Objectives by resource"); at < len(want) {
		t.Errorf("objectives are number %d", at)
	}
}

// TestPairs wants a tile and the list beside it to ask the same, one of all and one of each.
func TestPairs(t *testing.T) {
	exprs := map[string]string{}
	for _, p := range drawn(t, config.Default())["lockscope-nodes"].All() {
		if len(p.Targets) > 0 {
			exprs[p.Title] = p.Targets[0].Expr
		}
	}
	grouping := regexp.MustCompile(` by \([^)]*\)`)
	for tile, list := range map[string]string{"Failed commands": "Failed commands by node",
		"Slowest node, p99": "Slowest nodes, p99"} {
		one, each := grouping.ReplaceAllString(exprs[tile], ""), grouping.ReplaceAllString(exprs[list], "")
		if worst, found := strings.CutPrefix(one, "max("); found {
			one = strings.TrimSuffix(worst, ")")
		}
		if one == "" || each != "topk(10, "+one+")" {
			t.Errorf("%s and %s differ:\n%s\n%s", tile, list, one, each)
		}
	}
}

// TestNothingHeld wants the age of the oldest lease to be absent, not 0, where nothing is held.
func TestNothingHeld(t *testing.T) {
	for uid, d := range drawn(t, config.Default()) {
		for _, q := range d.Queries() {
			if strings.Contains(q.Expr, "held_since") && strings.Contains(q.Expr, "or 0 *") {
				t.Errorf("%s: %s is 0 where nothing is held: %s", uid, q.Panel, q.Expr)
			}
		}
	}
}

// TestLargest wants charts of resources and processes, of which there may be thousands,
// to show the configured number.
func TestLargest(t *testing.T) {
	c := config.Default()
	c.Boards.Top = 7
	for uid, d := range drawn(t, c) {
		for _, p := range d.All() {
			for _, target := range p.Targets {
				legend := target.Legend
				many := strings.Contains(legend, "{{resource}}") || strings.Contains(legend, "{{instance}}")
				if p.Type == "timeseries" && many && !strings.Contains(target.Expr, "topk(7, ") {
					t.Errorf("%s: %s shows all", uid, p.Title)
				}
			}
		}
	}
}

// TestLegends wants them below the charts, where they take little.
func TestLegends(t *testing.T) {
	for _, f := range files(t, config.Default(), deploy.Settings{}) {
		if strings.Contains(string(f.Text), `"placement": "right"`) {
			t.Errorf("%s has a legend beside a chart", f.Path)
		}
	}
}

func TestPageAndRunbookLinks(t *testing.T) {
	c := config.Default()
	c.Boards.PageURL = "https://{cluster}.example.com/{instance}/locks"
	d := fitted(t, c, deploy.Settings{RunbookURL: "https://wiki.example.com/locks"})
	var all []string
	for _, p := range slices.Concat(d["lockscope-overview"].All(), d["lockscope-resources"].All()) {
		all = append(all, p.Links()...)
	}
	for _, want := range []string{"https://${__data.fields.cluster}.example.com/${__data.fields.instance}/locks",
		"https://wiki.example.com/locks/${__data.fields.alertname}.md"} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is not among %q", want, all)
		}
	}
}

// TestLogsAreOptional: without a selector there is no panel and no variable; with one the
// variable is hidden, as there may be no Loki.
func TestLogsAreOptional(t *testing.T) {
	for selector, want := range map[string]bool{"": false, `{app="billing"}`: true} {
		c := config.Default()
		c.Boards.LogSelector = selector
		d := drawn(t, c)["lockscope-resource"]
		v, found := variable(d, "logs")
		if found != want || found && (v.Hide != 2 || v.Text() != "loki") {
			t.Errorf("%q: variable %+v", selector, v)
		}
		shown := slices.ContainsFunc(d.All(), func(p grafana.Panel) bool {
			return p.Type == "logs" && strings.HasPrefix(p.Targets[0].Expr, selector)
		})
		if shown != want {
			t.Errorf("%q: logs are shown: %v", selector, shown)
		}
	}
}

// TestMarks wants words for what is marked in the charts.
func TestMarks(t *testing.T) {
	for uid, d := range drawn(t, config.Default()) {
		text, err := json.Marshal(d.Annotations.List)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Alerts", "Deploys", "Restarts"} {
			if !strings.Contains(string(text), `"name":"`+name+`"`) {
				t.Errorf("%s does not mark %s", uid, name)
			}
		}
		for _, a := range d.Annotations.List {
			if a.Title == "" || len(strings.Fields(a.Text)) < 2 {
				t.Errorf("%s: %s has no words: %+v", uid, a.Name, a)
			}
		}
	}
}

// TestColumnsFit: numbers are on the right of their column, and one that is too long loses its first digits.
func TestColumnsFit(t *testing.T) {
	longest := map[string]string{"s": "51.9 weeks", "ops": "0.00333 ops/s"}
	checked := 0
	for uid, d := range drawn(t, config.Default()) {
		for _, p := range d.All() {
			for _, o := range p.FieldConfig.Overrides {
				set := map[string]any{}
				for _, s := range o.Properties {
					set[s.ID] = s.Value
				}
				unit, _ := set["unit"].(string)
				width, fixed := set["custom.width"].(float64)
				if text := longest[unit]; fixed && text != "" {
					checked++
					if need := float64(8*len(text) + 13); width < need { // of a character in Grafana's font, and of the margins
						t.Errorf("%s: %s: a column of %v pixels has no room for %s: %v", uid, p.Title, width, text, need)
					}
				}
			}
		}
	}
	if checked < 8 {
		t.Errorf("looked at %d columns only", checked)
	}
}
