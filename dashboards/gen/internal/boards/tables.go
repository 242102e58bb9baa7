package boards

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

func (p panel) table() cog.Builder[dashboard.Panel] {
	b := table.NewPanelBuilder().ShowHeader(true).CellHeight(common.TableCellHeightSm)
	names, drop := map[string]string{}, map[string]bool{"Time": true}
	for _, h := range p.hidden {
		drop[h] = true
	}
	for i, c := range p.columns {
		value := "Value"
		if len(p.columns) > 1 {
			value = "Value #" + string(rune('A'+i))
		}
		names[value] = c.title
		b.OverrideByName(c.title, c.properties())
	}
	for _, c := range p.cells {
		b.OverrideByName(c.column, p.label(c))
	}
	if p.narrow > 0 {
		b.Width(p.narrow)
	}
	b.SortBy(p.sortedBy())
	places := map[string]int{}
	for i, name := range p.order {
		places[name] = i
	}
	return b.WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": drop, "renameByName": names, "indexByName": places,
		}})
}

func (p panel) sortedBy() (all []cog.Builder[common.TableSortByFieldState]) {
	for _, name := range p.sorted {
		all = append(all, common.NewTableSortByFieldStateBuilder().DisplayName(name).Desc(!p.rising))
	}
	return all
}

func (p panel) label(c labelColumn) (all []dashboard.DynamicConfigValue) {
	if len(c.links) > 0 {
		all = append(all, dashboard.DynamicConfigValue{Id: "links", Value: p.dataLinks(c.links)})
	}
	if c.width > 0 {
		all = append(all, dashboard.DynamicConfigValue{Id: "custom.width", Value: c.width})
	}
	if p.narrow > 0 && c.width == 0 { // no value takes back the width of all columns: it shares what is left
		all = append(all, dashboard.DynamicConfigValue{Id: "custom.width"})
	}
	return all
}

func (c column) properties() []dashboard.DynamicConfigValue {
	all := []dashboard.DynamicConfigValue{
		{Id: "unit", Value: c.unit},
		{Id: "thresholds", Value: thresholds(c.steps)},
		{Id: "custom.cellOptions", Value: map[string]any{"type": "color-text"}},
	}
	if c.decimals != auto {
		all = append(all, dashboard.DynamicConfigValue{Id: "decimals", Value: c.decimals})
	}
	if c.width > 0 {
		all = append(all, dashboard.DynamicConfigValue{Id: "custom.width", Value: c.width})
	}
	if c.words != nil {
		m := dashboard.NewValueMap()
		for value, text := range c.words {
			m.Options[value] = dashboard.ValueMappingResult{Text: &text}
		}
		all = append(all, dashboard.DynamicConfigValue{Id: "mappings", Value: []dashboard.ValueMap{*m}})
	}
	return all
}
