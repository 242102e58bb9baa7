package draw

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// source is the data source that the reader selects.
func source() common.DataSourceRef {
	return common.DataSourceRef{Type: new("prometheus"), Uid: new("${datasource}")}
}

func (p Panel) build() (dashboard.Panel, error) {
	if slices.Contains([]Kind{AlertList, Logs, Traces, Words}, p.Kind) {
		return p.elsewhere()
	}
	made, err := p.visualization().Build()
	if err != nil {
		return made, err
	}
	made.Title, made.Description = &p.Title, &p.About
	ds := source()
	made.Datasource = &ds
	if made.Targets, err = p.targets(); err != nil {
		return made, err
	}
	if made.FieldConfig == nil {
		made.FieldConfig = dashboard.NewFieldConfigSource()
	}
	p.defaults(&made.FieldConfig.Defaults)
	return made, nil
}

func (p Panel) visualization() cog.Builder[dashboard.Panel] {
	switch p.Kind {
	case single:
		return p.tile()
	case Heat:
		return p.heatmap()
	case Table:
		return p.table()
	case TopList:
		return p.topList()
	case States:
		return p.states()
	default:
		return p.chart()
	}
}

func (p Panel) defaults(c *dashboard.FieldConfig) {
	c.Unit = &p.Unit
	if p.Decimals != Auto {
		c.Decimals = &p.Decimals
	}
	if p.None != "" {
		c.NoValue = &p.None
	}
	if p.Zero {
		c.Min = new(0.0)
	}
	if p.One {
		c.Max = new(1.0)
	}
	mode := dashboard.FieldColorModeIdThresholds
	if p.Kind == lines || p.Kind == bars {
		mode = dashboard.FieldColorModeIdPaletteClassic // by name, two of five nodes often look the same
	}
	c.Color = &dashboard.FieldColor{Mode: mode}
	c.Thresholds = thresholds(p.Steps)
	if p.Kind == single {
		c.Mappings = []dashboard.ValueMapping{{SpecialValueMap: calm(cmp.Or(p.None, "no data"))}}
	}
	c.Links = p.dataLinks(p.Links)
}

func (p Panel) targets() ([]variants.Dataquery, error) {
	var all []variants.Dataquery
	for i, q := range p.Queries {
		b := prometheus.NewDataqueryBuilder().
			RefId(string(rune('A' + i))).Datasource(source()).Expr(p.fill.expr(q.Expr)).
			EditorMode(prometheus.QueryEditorModeCode)
		if q.Legend != "" {
			b.LegendFormat(p.fill.legend(q.Legend))
		}
		switch {
		case p.Kind == Table:
			b.Format(prometheus.PromQueryFormatTable)
		case p.Kind == Heat:
			b.Format(prometheus.PromQueryFormatHeatmap)
		default:
			b.Format(prometheus.PromQueryFormatTimeSeries)
		}
		if q.Instant {
			b.Instant()
		} else {
			b.Range()
		}
		b.Exemplar(p.exemplars)
		target, err := b.Build()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Title, err)
		}
		all = append(all, target)
	}
	return all, nil
}

func (p Panel) tile() cog.Builder[dashboard.Panel] {
	graph := common.BigValueGraphModeArea
	if p.Queries[0].Instant {
		graph = common.BigValueGraphModeNone
	}
	text := common.BigValueTextModeValue
	if p.named {
		text = common.BigValueTextModeValueAndName
	}
	b := stat.NewPanelBuilder().GraphMode(graph).ColorMode(common.BigValueColorModeValue).
		JustifyMode(common.BigValueJustifyModeAuto).TextMode(text).
		ReduceOptions(p.reduced()).Orientation(common.VizOrientationAuto).WideLayout(false)
	if p.Size > 0 {
		b.Text(common.NewVizTextDisplayOptionsBuilder().TitleSize(p.Size / 3).ValueSize(p.Size))
	}
	for _, t := range p.tints {
		b.OverrideByName(t.series, t.fixed())
	}
	return b
}

func (t Tint) fixed() []dashboard.DynamicConfigValue {
	return []dashboard.DynamicConfigValue{
		{Id: "color", Value: dashboard.FieldColor{Mode: dashboard.FieldColorModeIdFixed, FixedColor: &t.color}},
	}
}

func (p Panel) reduced() *common.ReduceDataOptionsBuilder {
	return common.NewReduceDataOptionsBuilder().Values(false).Calcs([]string{"lastNotNull"}).Fields("")
}

func (p Panel) chart() cog.Builder[dashboard.Panel] {
	b := timeseries.NewPanelBuilder().
		LineWidth(1).FillOpacity(8).ShowPoints(common.VisibilityModeNever).
		DrawStyle(common.GraphDrawStyleLine).LineInterpolation(common.LineInterpolationLinear).
		SpanNulls(common.BoolOrFloat64{Bool: new(false)}).AxisPlacement(common.AxisPlacementAuto).
		Tooltip(tooltip()).Legend(p.legend())
	if p.Kind == bars {
		b.FillOpacity(60).LineWidth(0).
			Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal).Group("A"))
	}
	if p.reach > 0 {
		b.AxisSoftMax(p.reach)
	}
	if p.logarithmic {
		b.ScaleDistribution(common.NewScaleDistributionConfigBuilder().Type(common.ScaleDistributionLog).Log(10))
	}
	for _, t := range p.tints {
		b.OverrideByName(t.series, t.fixed())
	}
	if p.limits {
		b.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	return b
}

// legend lists the few names below the chart. A table would take a third of it.
func (p Panel) legend() *common.VizLegendOptionsBuilder {
	return common.NewVizLegendOptionsBuilder().ShowLegend(true).
		DisplayMode(common.LegendDisplayModeList).Placement(common.LegendPlacementBottom).Calcs([]string{})
}

func tooltip() *common.VizTooltipOptionsBuilder {
	return common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)
}

func (p Panel) heatmap() cog.Builder[dashboard.Panel] {
	return heatmap.NewPanelBuilder().Calculate(false).CellGap(0).ShowLegend().
		Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Oranges").
			Scale(heatmap.HeatmapColorScaleExponential).Exponent(0.5).Steps(64).Fill("dark-orange")).
		CellValues(heatmap.NewCellValuesBuilder().Unit("ops")).
		YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.Unit).AxisPlacement(common.AxisPlacementLeft)).
		Tooltip(heatmap.NewHeatmapTooltipBuilder().Mode(common.TooltipDisplayModeSingle).YHistogram(true).
			ShowColorScale(true)).
		ExemplarsColor("rgba(255,0,255,0.7)").FilterValues(heatmap.NewFilterValueRangeBuilder().Le(1e-9))
}

func (p Panel) topList() cog.Builder[dashboard.Panel] {
	return bargauge.NewPanelBuilder().DisplayMode(common.BarGaugeDisplayModeGradient).
		ValueMode(common.BarGaugeValueModeColor).ShowUnfilled(true).Orientation(common.VizOrientationHorizontal).
		Sizing(common.BarGaugeSizingAuto).NamePlacement(common.BarGaugeNamePlacementAuto).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(false).DisplayMode(common.LegendDisplayModeHidden).
			Placement(common.LegendPlacementBottom).Calcs([]string{})).
		ReduceOptions(p.reduced())
}

func (p Panel) states() cog.Builder[dashboard.Panel] {
	return statetimeline.NewPanelBuilder().MergeValues(true).ShowValue(common.VisibilityModeNever).RowHeight(0.8).
		FillOpacity(80).LineWidth(0).Tooltip(tooltip()).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(false).DisplayMode(common.LegendDisplayModeHidden).
			Placement(common.LegendPlacementBottom).Calcs([]string{}))
}
