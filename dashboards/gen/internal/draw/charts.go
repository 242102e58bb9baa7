package draw

import (
	"fmt"
	"slices"
	"strconv"
)

// Widths of panels, and the height of a chart.
const (
	Quarter, Third = 6, 8
	Half, Full     = 12, 24
	ChartHeight    = 8

	tileWidth, tileHeight = 3, 4
)

// Tile shows one value: the result of one query with the colour of its step.
func Tile(title, unit string, decimals float64, s []Step, queries []Query, about string) Panel {
	return Panel{Kind: single, Title: title, About: about, Unit: unit, Decimals: decimals, Steps: s,
		Queries: queries, Width: tileWidth, Height: tileHeight}
}

// Chart shows series as lines over the time shown, from 0 on.
func Chart(title, unit string, w uint32, queries []Query, about string) Panel {
	return Panel{Kind: lines, Title: title, About: about, Unit: unit, Decimals: Auto, Width: w, Height: ChartHeight,
		Queries: queries, Zero: true}
}

// RatioChart is a Chart of shares, from 0 to 1.
func RatioChart(title string, w uint32, queries []Query, about string) Panel {
	p := Chart(title, "percentunit", w, queries, about)
	p.One = true
	return p
}

// Stacked adds the series up.
func (p Panel) Stacked() Panel { p.Kind = bars; return p }

// Tinted gives series fixed colours.
func (p Panel) Tinted(t ...Tint) Panel { p.tints = t; return p }

// Reaching sets the least end of the axis, so that small values look small.
func (p Panel) Reaching(most float64) Panel { p.reach = most; return p }

// Rare sets the axis for events that should not happen: one a minute is visible, and zero is not drawn on an
// axis of a hundred.
func (p Panel) Rare() Panel { return p.Reaching(.1) }

// Marked draws the steps into the chart.
func (p Panel) Marked(s []Step) Panel { p.Steps, p.limits = s, true; return p }

// OnLogAxis uses a logarithmic axis, which has no 0.
func (p Panel) OnLogAxis() Panel { p.logarithmic, p.Zero = true, false; return p }

// Otherwise sets the text of a panel without data.
func (p Panel) Otherwise(text string) Panel { p.None = text; return p }

// Linking sets the links of every series.
func (p Panel) Linking(l ...Link) Panel { p.Links = l; return p }

// Largest keeps the n series that were the largest at any time shown. Nobody can read a chart of a thousand
// resources.
func (p Panel) Largest(n int) Panel {
	queries := make([]Query, len(p.Queries))
	for i, q := range p.Queries {
		q.Expr = fmt.Sprintf("(%[1]s) and topk(%[2]d, max_over_time((%[1]s)[$__range:$__rate_interval] @ end()))",
			q.Expr, n)
		queries[i] = q
	}
	p.Queries = queries
	return p
}

// Sized sets the width and the height.
func (p Panel) Sized(w, h uint32) Panel { p.Width, p.Height = w, h; return p }

// Wide sets the width.
func (p Panel) Wide(w uint32) Panel { p.Width = w; return p }

// Naming shows the name of the series beside the value of a tile.
func (p Panel) Naming(legend string) Panel {
	p.named, p.Queries = true, []Query{{Expr: p.Queries[0].Expr, Legend: legend, Instant: true}}
	return p
}

// Either adds a query that has a value instead of the first one, in a colour of its own. The tile shows which it is.
func (p Panel) Either(legend, expr, color string) Panel {
	p.named, p.tints = true, append(p.tints, In(color, legend))
	p.Queries = append(slices.Clone(p.Queries), Query{Expr: expr, Legend: legend, Instant: true})
	return p
}

// Traced marks the traces of single calls.
func (p Panel) Traced() Panel { p.exemplars = true; return p }

// HeatMap shows a histogram of seconds over the time shown.
func HeatMap(title string, w uint32, expr, about string) Panel {
	return Panel{Kind: Heat, Title: title, About: about, Unit: "s", Decimals: Auto, Width: w, Height: ChartHeight,
		Queries: History(expr, "{{le}}")}
}

// Quantiles returns queries for quantiles of a histogram whose rates expr sums by le.
func Quantiles(expr, legend string, of ...float64) []Query {
	var all []Query
	for _, q := range of {
		text := strconv.FormatFloat(q*100, 'f', -1, 64)
		all = append(all, Query{Expr: fmt.Sprintf("histogram_quantile(%v, %s)", q, expr), Legend: "p" + text + legend})
	}
	return all
}
