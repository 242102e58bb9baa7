package boards

import (
	"fmt"
	"slices"
	"strconv"
)

// Sizes of panels.
const (
	tileWidth, tileHeight = 3, 4
	chartHeight           = 8
	quarter, third        = 6, 8
	half, full            = 12, 24
)

func tile(title, unit string, decimals float64, s []step, queries []query, about string) panel {
	return panel{Kind: single, Title: title, About: about, Unit: unit, Decimals: decimals, Steps: s,
		Queries: queries, Width: tileWidth, Height: tileHeight}
}

func chart(title, unit string, w uint32, queries []query, about string) panel {
	return panel{Kind: lines, Title: title, About: about, Unit: unit, Decimals: auto, Width: w, Height: chartHeight,
		Queries: queries, Zero: true}
}

func ratioChart(title string, w uint32, queries []query, about string) panel {
	p := chart(title, "percentunit", w, queries, about)
	p.One = true
	return p
}

func (p panel) Stacked() panel { p.Kind = bars; return p }

func (p panel) Tinted(t ...tint) panel { p.tints = t; return p }

func (p panel) Reaching(most float64) panel { p.reach = most; return p }

// rare sets the axis for events that should not happen: one a minute is visible, and zero is not drawn on an
// axis of a hundred.
func (p panel) Rare() panel { return p.Reaching(.1) }

func (p panel) Marked(s []step) panel { p.Steps, p.limits = s, true; return p }

// onLogAxis uses a logarithmic axis, which has no 0.
func (p panel) OnLogAxis() panel { p.logarithmic, p.Zero = true, false; return p }

// otherwise sets the text of a panel without data.
func (p panel) Otherwise(text string) panel { p.None = text; return p }

func (p panel) Linking(l ...link) panel { p.Links = l; return p }

// largest keeps the series that were the largest at any time shown. Nobody can read a chart of a thousand
// resources.
func (p panel) Largest(n int) panel {
	queries := make([]query, len(p.Queries))
	for i, q := range p.Queries {
		q.Expr = fmt.Sprintf("(%[1]s) and topk(%[2]d, max_over_time((%[1]s)[$__range:$__rate_interval] @ end()))",
			q.Expr, n)
		queries[i] = q
	}
	p.Queries = queries
	return p
}

func (p panel) Sized(w, h uint32) panel { p.Width, p.Height = w, h; return p }

func (p panel) Wide(w uint32) panel { p.Width = w; return p }

func (p panel) Naming(legend string) panel {
	p.named, p.Queries = true, []query{{Expr: p.Queries[0].Expr, Legend: legend, Instant: true}}
	return p
}

// either adds a query that has a value instead of the first one, in a colour of its own. The tile shows which it is.
func (p panel) Either(legend, expr, color string) panel {
	p.named, p.tints = true, append(p.tints, in(color, legend))
	p.Queries = append(slices.Clone(p.Queries), query{Expr: expr, Legend: legend, Instant: true})
	return p
}

func (p panel) Traced() panel { p.exemplars = true; return p }

func heatMap(title string, w uint32, expr, about string) panel {
	return panel{Kind: heat, Title: title, About: about, Unit: "s", Decimals: auto, Width: w, Height: chartHeight,
		Queries: course(expr, "{{le}}")}
}

// quantiles returns queries for quantiles of a histogram whose rates expr sums by le.
func quantiles(expr, legend string, of ...float64) []query {
	var all []query
	for _, q := range of {
		text := strconv.FormatFloat(q*100, 'f', -1, 64)
		all = append(all, query{Expr: fmt.Sprintf("histogram_quantile(%v, %s)", q, expr), Legend: "p" + text + legend})
	}
	return all
}
