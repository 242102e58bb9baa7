package draw

import (
	"bytes"
	"encoding/json"

	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// tag is on every dashboard. Grafana links dashboards by it.
const tag = "distributed-lock"

// Board is one dashboard.
type Board struct {
	UID, Title, About string // the UID is the name in links, and of the file
	From              string
	Variables         []Variable
	Rows              []Row
	Marks             []Mark
}

// Render returns the dashboard as Grafana imports it.
func (b Board) Render() ([]byte, error) {
	fill := newFiller()
	//nolint:staticcheck // SA1019: dashboards of the newer model cannot be provisioned from files.
	d := dashboard.NewDashboardBuilder(b.Title).
		Uid(b.UID).Description(b.About).Tags([]string{tag}).Timezone(common.TimeZoneBrowser).
		Readonly().Tooltip(dashboard.DashboardCursorSyncCrosshair).Time(b.From, "now").Refresh("1m").
		Link(dashboard.NewDashboardLinkBuilder("Distributed locks").Type(dashboard.DashboardLinkTypeDashboards).
			Tags([]string{tag}).AsDropdown(false).IncludeVars(true).KeepTime(true).Icon("external link"))
	for _, m := range append(happened(), b.Marks...) {
		d.Annotation(m.builder(fill))
	}
	for _, v := range b.Variables {
		v.fill = fill
		d.WithVariable(v)
	}
	built, err := d.Build()
	if err != nil {
		return nil, err
	}
	if built.Panels, err = layout(b.Rows, fill); err != nil {
		return nil, err
	}
	show(built)
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(built)
	return text.Bytes(), err
}

// show moves links and annotations out of the menu in which the SDK hides them.
func show(d dashboard.Dashboard) {
	for i := range d.Links {
		d.Links[i].Placement = nil
	}
	for i := range d.Annotations.List {
		d.Annotations.List[i].Placement = nil
	}
}
