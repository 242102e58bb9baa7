package draw

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/table"
)

func (p Panel) table() cog.Builder[dashboard.Panel] {
	b := table.NewPanelBuilder().ShowHeader(true).CellHeight(common.TableCellHeightSm)
	names, drop := map[string]string{}, map[string]bool{"Time": true}
	for _, h := range p.Hidden {
		drop[h] = true
	}
	for i, c := range p.Columns {
		value := "Value"
		if len(p.Columns) > 1 {
			value = "Value #" + string(rune('A'+i))
		}
		names[value] = c.Title
		properties := c.properties()
		if p.None != "" { // it is about a table without rows, not about a row without this value
			properties = append(properties, dashboard.DynamicConfigValue{Id: "noValue", Value: "-"})
		}
		b.OverrideByName(c.Title, properties)
	}
	for _, c := range p.Cells {
		b.OverrideByName(c.Name, p.label(c))
	}
	if p.Narrow > 0 {
		b.Width(p.Narrow)
	}
	b.SortBy(p.sortedBy())
	places := map[string]int{}
	for i, name := range p.Order {
		places[name] = i
	}
	return b.WithTransformation(dashboard.DataTransformerConfig{Id: "merge", Options: map[string]any{}}).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": drop, "renameByName": names, "indexByName": places,
		}})
}

func (p Panel) sortedBy() (all []cog.Builder[common.TableSortByFieldState]) {
	for _, name := range p.Sorted {
		all = append(all, common.NewTableSortByFieldStateBuilder().DisplayName(name).Desc(!p.Rising))
	}
	return all
}

func (p Panel) label(c LabelColumn) (all []dashboard.DynamicConfigValue) {
	if len(c.Links) > 0 {
		all = append(all, dashboard.DynamicConfigValue{Id: "links", Value: p.dataLinks(c.Links)})
	}
	if c.Width > 0 {
		all = append(all, dashboard.DynamicConfigValue{Id: "custom.width", Value: c.Width})
	}
	if p.Narrow > 0 && c.Width == 0 { // no value takes back the width of all columns: it shares what is left
		all = append(all, dashboard.DynamicConfigValue{Id: "custom.width"})
	}
	return all
}

func (c Column) properties() []dashboard.DynamicConfigValue {
	all := []dashboard.DynamicConfigValue{
		{Id: "unit", Value: c.Unit},
		{Id: "thresholds", Value: thresholds(c.Steps)},
		{Id: "custom.cellOptions", Value: map[string]any{"type": "color-text"}},
	}
	if c.Decimals != Auto {
		all = append(all, dashboard.DynamicConfigValue{Id: "decimals", Value: c.Decimals})
	}
	if c.Width > 0 {
		all = append(all, dashboard.DynamicConfigValue{Id: "custom.width", Value: c.Width})
	}
	if c.Words != nil {
		m := dashboard.NewValueMap()
		for value, text := range c.Words {
			m.Options[value] = dashboard.ValueMappingResult{Text: &text}
		}
		all = append(all, dashboard.DynamicConfigValue{Id: "mappings", Value: []dashboard.ValueMap{*m}})
	}
	return all
}
