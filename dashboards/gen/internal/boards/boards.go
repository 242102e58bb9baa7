// Package boards makes the Grafana dashboards.
package boards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
)

// Tag is on every dashboard, and makes the links between them.
const Tag = "distributed-lock"

// selectors are shorthands for the variables by which a metric can be chosen: R has a
// resource, N a lock_node, I only its process; S and M are recorded for a
// resource or a node of all processes, J for a job.
var selectors = strings.NewReplacer(expand(map[string]string{
	"I": `job=~"$job", instance=~"$instance"`,
	"R": `job=~"$job", instance=~"$instance", resource=~"$resource"`,
	"N": `job=~"$job", instance=~"$instance", lock_node=~"$lock_node"`,
	"S": `job=~"$job", resource=~"$resource"`,
	"M": `job=~"$job", lock_node=~"$lock_node"`,
	"J": `job=~"$job"`,
})...)

func expand(short map[string]string) []string {
	var pairs []string
	for name, matchers := range short {
		pairs = append(pairs, "{"+name+"}", "{"+matchers+"}", "{"+name+",", "{"+matchers+", ")
	}
	return pairs
}

// board is one dashboard.
type board struct {
	uid, title, about string
	from              string
	variables         []variable
	rows              []row
}

// File is a dashboard as Grafana imports it.
type File struct {
	Name string
	JSON []byte
}

// Files returns all dashboards.
func Files(c config.Config) ([]File, error) {
	var files []File
	for _, b := range []board{overview(c), resource(c), nodes(c), leaks(c)} {
		text, err := b.render()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.uid, err)
		}
		files = append(files, File{Name: b.uid + ".json", JSON: text})
	}
	return files, nil
}

func (b board) render() ([]byte, error) {
	//nolint:staticcheck // SA1019: dashboards of the newer model cannot be provisioned from files.
	d := dashboard.NewDashboardBuilder(b.title).
		Uid(b.uid).Description(b.about).Tags([]string{Tag}).Timezone(common.TimeZoneBrowser).
		Readonly().Tooltip(dashboard.DashboardCursorSyncCrosshair).Time(b.from, "now").Refresh("1m").
		Link(dashboard.NewDashboardLinkBuilder("Distributed locks").Type(dashboard.DashboardLinkTypeDashboards).
			Tags([]string{Tag}).AsDropdown(false).IncludeVars(true).KeepTime(true).Icon("external link")).
		Annotation(alerts())
	for _, v := range b.variables {
		d.WithVariable(v)
	}
	for _, r := range b.rows {
		d.WithRow(dashboard.NewRowBuilder(r.title))
		for _, p := range r.panels {
			d.WithPanel(p)
		}
	}
	built, err := d.Build()
	if err != nil {
		return nil, err
	}
	number(built.Panels)
	show(built)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(built)
	return text.Bytes(), err
}

// number gives panels the ids that links to a single panel use.
func number(panels []dashboard.PanelOrRowPanel) {
	for i, p := range panels {
		id := uint32(i + 1)
		if p.RowPanel != nil {
			p.RowPanel.Id = id
		} else {
			p.Panel.Id = &id
		}
	}
}

// show takes links and alerts out of the menu in which the SDK hides them.
func show(d dashboard.Dashboard) {
	for i := range d.Links {
		d.Links[i].Placement = nil
	}
	for i := range d.Annotations.List {
		d.Annotations.List[i].Placement = nil
	}
}

// alerts marks the times at which one of our alerts fired.
func alerts() *dashboard.AnnotationQueryBuilder {
	return dashboard.NewAnnotationQueryBuilder().Name("Alerts").Datasource(source()).Enable(true).Hide(false).IconColor(red).
		Expr(selectors.Replace(`ALERTS{J,alertname=~"DistributedLock.+", alertstate="firing"}`)).
		TitleFormat("{{alertname}}").TextFormat("{{severity}} {{resource}} {{lock_node}} {{reason}}").TagKeys("alertname,severity").Step("60s")
}
