package boards

// outcomeTints colours the outcomes of acquires, from good to bad.
func outcomeTints() []tint {
	return []tint{{"acquired", green}, {"contended", blue}, {"canceled", purple}, {"timeout", orange},
		{"no_quorum", red}, {"error", "dark-red"}}
}

const waitRate = `sum by (le) (rate(distributed_lock_wait_seconds_bucket{R}[$__rate_interval]))`

func waits(good float64) []panel {
	return []panel{
		chart("Wait time p50, p95, p99", "s", half, quantiles(waitRate, "", .5, .95, .99),
			"Time from the call of Acquire to its return, whatever the outcome. Good: p99 below the dashed line. Each "+
				"dot is one acquire: click it for its trace, which links to the holder that it waited for.").
			marked(steps(green, step{good, orange}, step{1, red})).traced(),
		heatMap("Wait time distribution", half, waitRate,
			"Acquires by wait. Fuller cells stand out. Good: those are at the bottom. A second band further up is "+
				"callers that wait for a whole hold, or for the TTL of a dead holder.").traced(),
	}
}
