package boards

import (
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/common/model"

	"github.com/lockscope/lockscope/dashboards/deploy"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
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

func (p panel) tinted(t []tint) panel { p.tints = t; return p }

func (p panel) reaching(most float64) panel { p.reach = most; return p }

// rare is for what should not happen: a single one in a minute is to be seen, and
// none is not to be drawn on an axis of a hundred.
func (p panel) rare() panel { return p.reaching(.1) }

func (p panel) marked(s []step) panel { p.steps, p.limits = s, true; return p }

// onLogAxis shows what differs by orders of magnitude; 0 has no place there.
func (p panel) onLogAxis() panel { p.logarithmic, p.zero = true, false; return p }

// otherwise is said where there is nothing to draw.
func (p panel) otherwise(text string) panel { p.none = text; return p }

func (p panel) leading(l ...link) panel { p.links = l; return p }

// largest leaves the series that were the largest at any time shown. All of a thousand
// resources are a chart that nobody reads.
func (p panel) largest(n int) panel {
	queries := make([]query, len(p.queries))
	for i, q := range p.queries {
		q.expr = fmt.Sprintf("(%[1]s) and topk(%[2]d, max_over_time((%[1]s)[$__range:$__rate_interval] @ end()))", q.expr, n)
		queries[i] = q
	}
	p.queries = queries
	return p
}

func (p panel) wide(w uint32) panel { p.w = w; return p }

func (p panel) telling(legend string) panel {
	p.named, p.queries = true, []query{{expr: p.queries[0].expr, legend: legend, instant: true}}
	return p
}

func (p panel) traced() panel { p.exemplars = true; return p }

func heatMap(title string, w uint32, expr, about string) panel {
	return panel{kind: heat, title: title, about: about, unit: "s", decimals: auto, w: w, h: chartHeight,
		queries: course(expr, "{{le}}")}
}

// quantiles are p50, p95 and p99 of a histogram whose rates expr adds up by le.
func quantiles(expr, legend string, of ...float64) []query {
	var all []query
	for _, q := range of {
		text := strconv.FormatFloat(q*100, 'f', -1, 64)
		all = append(all, query{expr: fmt.Sprintf("histogram_quantile(%v, %s)", q, expr), legend: "p" + text + legend})
	}
	return all
}

// Links to the other dashboards; they keep the time, the data source, the clusters and the job.
func toResource() link {
	return link{title: "This resource in depth", url: "/d/lockscope-resource?${__url_time_range}&${datasource:queryparam}&${job:queryparam}$LINKED&var-resource=${__field.labels.resource:percentencode}"}
}

func toNode() link {
	return link{title: "This node", url: "/d/lockscope-nodes?${__url_time_range}&${datasource:queryparam}&${job:queryparam}$LINKED&var-lock_node=${__field.labels.lock_node:percentencode}"}
}

// fromRow is for the column of a table that names what another dashboard is about; the row
// has a job.
func fromRow(title, board, label string) link {
	return link{title: title, url: "/d/" + board + "?${__url_time_range}&${datasource:queryparam}$LINKED&var-job=${__data.fields.job:percentencode}&var-" +
		label + "=${__data.fields." + label + ":percentencode}"}
}

// objectives has the expressions about promises; by is a by clause, or nothing.
type objectives struct {
	config.SLO
	deploy.Objectives
	interval model.Duration // of the rules
}

func objectivesOf(c config.Config) objectives {
	return objectives{c.SLO, deploy.ShippedObjectives(), c.Interval}
}

// inRange adds up what a counter of resources has counted in the time shown, and the acquires meanwhile that
// nobody was served: their calls have not returned.
func (o objectives) inRange(counter, by string) string {
	return fmt.Sprintf(`sum%s (increase(%s[$__range]) or sum_over_time(%s{S}[$__range]) * %v)`,
		by, counter, rules.Unserved, time.Duration(o.interval).Seconds())
}

func (o objectives) failed(by string) string {
	return o.inRange("distributed_lock_failures_total{R}", by) + " / (" + o.asked(by) + " > 0)"
}

func (o objectives) asked(by string) string {
	return o.inRange("distributed_lock_wait_seconds_count{R}", by)
}

func (o objectives) availability(by string) string { return "1 - " + o.failed(by) }

func (o objectives) goodWaits(by string) string {
	return fmt.Sprintf(`sum%s (increase(distributed_lock_wait_seconds_bucket{R,%s}[$__range])) / (%s > 0)`, by, deploy.Bound(o.Within), o.asked(by))
}

func (o objectives) availabilityLeft(by string) string {
	return fmt.Sprintf("1 - (%s) / (1 - %v)", o.failed(by), o.Availability)
}

func (o objectives) waitLeft(by string) string {
	return fmt.Sprintf("1 - (1 - %s) / (1 - %v)", o.goodWaits(by), o.Wait)
}

// availabilityLeftOfPeriod and waitLeftOfPeriod are recorded: no dashboard reads a month of counters.
func (o objectives) availabilityLeftOfPeriod() string {
	return fmt.Sprintf("1 - %s{S} / (1 - %v)", rules.FailureRatio(o.Period), o.Availability)
}

func (o objectives) waitLeftOfPeriod() string {
	return fmt.Sprintf("1 - %s{S} / (1 - %v)", rules.SlowRatio(o.Period), o.Wait)
}

// burning is a chart of burn rates.
func (p panel) burning(slo config.SLO) panel {
	_, fastest := factors(slo)
	return p.marked(burnRate(slo)).reaching(fastest)
}

// promise says an objective in words.
func (o objectives) promise() string {
	return fmt.Sprintf("%v %% of the acquires of a resource get the lock, and %v %% wait for %v s at most, over %s",
		percent(o.Availability), percent(o.Wait), o.Within, o.Period)
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'g', 6, 64) }

// How acquires end, from what is wanted to what is not.
func outcomeTints() []tint {
	return []tint{{"acquired", green}, {"contended", blue}, {"canceled", purple}, {"timeout", orange}, {"no_quorum", red}, {"error", "dark-red"}}
}

const waitRate = `sum by (le) (rate(distributed_lock_wait_seconds_bucket{R}[$__rate_interval]))`

func waits(good float64) []panel {
	return []panel{
		chart("Wait time p50, p95, p99", "s", half, quantiles(waitRate, "", .5, .95, .99),
			"Time from calling Acquire to its return, whatever the outcome. Good: p99 below the dashed line. Each dot is one acquire: click it to see its trace, which links to the holder that was waited for.").
			marked(steps(green, step{good, orange}, step{1, red})).traced(),
		heatMap("Wait time distribution", half, waitRate,
			"Every acquire by how long it waited; the more of them, the more a cell stands out. Good: what stands out is at the bottom. A second band further up is callers that wait for a whole hold, or for a TTL of a holder that died.").traced(),
	}
}
