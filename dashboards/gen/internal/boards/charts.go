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
	return panel{kind: single, title: title, about: about, unit: unit, decimals: decimals, steps: s,
		queries: queries, w: tileWidth, h: tileHeight}
}

func chart(title, unit string, w uint32, queries []query, about string) panel {
	return panel{kind: lines, title: title, about: about, unit: unit, decimals: auto, w: w, h: chartHeight,
		queries: queries, zero: true}
}

func ratioChart(title string, w uint32, queries []query, about string) panel {
	p := chart(title, "percentunit", w, queries, about)
	p.one = true
	return p
}

func (p panel) stacked() panel { p.kind = bars; return p }

func (p panel) tinted(t ...tint) panel { p.tints = t; return p }

func (p panel) reaching(most float64) panel { p.reach = most; return p }

// rare sets the axis for events that should not happen: one a minute is visible, and zero is not drawn on an
// axis of a hundred.
func (p panel) rare() panel { return p.reaching(.1) }

func (p panel) marked(s []step) panel { p.steps, p.limits = s, true; return p }

// onLogAxis uses a logarithmic axis, which has no 0.
func (p panel) onLogAxis() panel { p.logarithmic, p.zero = true, false; return p }

// otherwise sets the text of a panel without data.
func (p panel) otherwise(text string) panel { p.none = text; return p }

func (p panel) leading(l ...link) panel { p.links = l; return p }

// largest keeps the series that were the largest at any time shown. Nobody can read a chart of a thousand
// resources.
func (p panel) largest(n int) panel {
	queries := make([]query, len(p.queries))
	for i, q := range p.queries {
		q.expr = fmt.Sprintf("(%[1]s) and topk(%[2]d, max_over_time((%[1]s)[$__range:$__rate_interval] @ end()))",
			q.expr, n)
		queries[i] = q
	}
	p.queries = queries
	return p
}

func (p panel) sized(w, h uint32) panel { p.w, p.h = w, h; return p }

func (p panel) wide(w uint32) panel { p.w = w; return p }

func (p panel) telling(legend string) panel {
	p.named, p.queries = true, []query{{expr: p.queries[0].expr, legend: legend, instant: true}}
	return p
}

// either adds a query that has a value instead of the first one, in a colour of its own. The tile shows which it is.
func (p panel) either(legend, expr, color string) panel {
	p.named, p.tints = true, append(p.tints, in(color, legend))
	p.queries = append(slices.Clone(p.queries), query{expr: expr, legend: legend, instant: true})
	return p
}

func (p panel) traced() panel { p.exemplars = true; return p }

func heatMap(title string, w uint32, expr, about string) panel {
	return panel{kind: heat, title: title, about: about, unit: "s", decimals: auto, w: w, h: chartHeight,
		queries: course(expr, "{{le}}")}
}

// quantiles returns queries for quantiles of a histogram whose rates expr sums by le.
func quantiles(expr, legend string, of ...float64) []query {
	var all []query
	for _, q := range of {
		text := strconv.FormatFloat(q*100, 'f', -1, 64)
		all = append(all, query{expr: fmt.Sprintf("histogram_quantile(%v, %s)", q, expr), legend: "p" + text + legend})
	}
	return all
}
