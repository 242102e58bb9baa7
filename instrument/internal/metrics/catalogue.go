package metrics

import "github.com/prometheus/client_golang/prometheus"

// catalogue has every metric.
type catalogue struct {
	all         []prometheus.Collector
	perResource []vec

	wait, hold, validity            *prometheus.HistogramVec
	failures, acquisitions          *prometheus.CounterVec
	attempts, handOvers, extensions *prometheus.CounterVec
	deadlocks                       *prometheus.CounterVec
	lost, releaseFailures, longWait *prometheus.CounterVec
	waiting, held, heldSince        *prometheus.GaugeVec
	waitingSince, waitingAbove      *prometheus.GaugeVec
	waitingStalled                  *prometheus.GaugeVec
	waitClass                       *prometheus.CounterVec
	outlived, closeCalls, unfenced  *prometheus.CounterVec
	unprotected, polled             *prometheus.CounterVec
	blame                           *blame

	constructHeld, candidates *prometheus.GaugeVec
	constructWaiting          *prometheus.GaugeVec
	constructEnded            *prometheus.CounterVec
	term, termSince, slots    *prometheus.GaugeVec

	nodeDuration *prometheus.HistogramVec
	nodeFailures *prometheus.CounterVec
	nodeRestarts *prometheus.CounterVec
	nodeEvicted  *prometheus.CounterVec
	nodeUp       *prometheus.GaugeVec
	nodeUsable   *prometheus.GaugeVec
	nodeSkew     *prometheus.GaugeVec
	// nodes and quorum do not exist before their values are known: 0 would be wrong.
	nodes, quorum *prometheus.GaugeVec

	margin           prometheus.Histogram
	overflow, panics prometheus.Counter
	labelOverflow    prometheus.Counter
}

// newCatalogue makes the metrics. Those of a resource have the labels of calls after it.
func newCatalogue(s Settings) *catalogue {
	b := &builder{native: s.Native, more: s.Labels}
	c := &catalogue{
		wait: b.histogram("wait_seconds",
			"Duration of Acquire calls in seconds, whatever the outcome.",
			[]float64{.001, .005, .01, .05, .1, .5, 1, 5}, "resource"),
		failures: b.counter("failures_total",
			"Acquire calls that ended without the lock, except NoWait calls that found it held.", "resource"),
		acquisitions: b.counter("acquisitions_total",
			"Completed Acquire calls, by outcome.", "resource", "outcome"),
		attempts: b.counter("attempts_total", "Voting rounds of Acquire calls.", "resource"),
		handOvers: b.counter("handovers_total",
			"Acquire calls that got the lock from another lease of their process, without asking a node.",
			"resource"),
		deadlocks: b.counter("deadlocks_total",
			"Deadlocks among leases of this process, detected when a call began to wait.", "resource"),
		waiting: b.gauge("waiting", "Acquire calls in progress.", "resource"),
		waitingSince: b.gauge("waiting_since_timestamp_seconds",
			"Start of the longest Acquire call in progress, in seconds since 1970; 0 if there is none.",
			"resource"),
		waitingAbove: b.gauge("waiting_above_objective",
			"Acquire calls in progress that have waited longer than the objective.", "resource"),
		waitingStalled: b.gauge("waiting_without_quorum",
			"Acquire calls in progress that have waited longer than the objective, "+
				"and whose last vote got too few answers.", "resource"),
		waitClass: b.counter("wait_class_seconds_total",
			"Duration of Acquire calls in seconds by class of wait, including calls in progress.",
			"resource", "class"),
		longWait: b.counter("long_waits_total",
			"Acquire calls that waited longer than the threshold of the long-wait log.", "resource"),
		polled: b.counter("polled_total",
			"Acquire calls that waited behind a holder and found the lock free by a poll: no release had woken them.",
			"resource"),
		held: b.gauge("held", "Leases held by this process.", "resource"),
		heldSince: b.gauge("held_since_timestamp_seconds",
			"Acquisition of the oldest lease held by this process, in seconds since 1970; 0 if it holds none.",
			"resource"),
		hold: b.histogram("hold_seconds",
			"Duration of leases in seconds, from acquisition to the end of their release or to their loss.",
			[]float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300}, "resource"),
		validity: b.histogram("validity_seconds", "Remaining validity of leases when acquired, in seconds.",
			[]float64{.01, .05, .1, .5, 1, 5, 10, 30, 60}, "resource"),
		extensions: b.counter("extensions_total", "Renewal rounds, by outcome.", "resource", "outcome"),
		lost: b.counter("lost_total",
			"Leases that ended before their release, by reason.", "resource", "reason"),
		outlived: b.counter("outlived_total",
			"Leases released more than a second after they were lost or reached their maximum hold.", "resource"),
		closeCalls: b.counter("close_calls_total",
			"Leases without renewal that were released with less than a tenth of their TTL left.", "resource"),
		unfenced: b.counter("unfenced_total",
			"Leases released by a holder that had not read their fencing token.", "resource"),
		unprotected: b.counter("unprotected_runs_total",
			"Runs without a lock that package outage allowed, because too few nodes could be reached.", "resource"),
		releaseFailures: b.counter("release_failures_total",
			"Releases that found the lease gone, or could not confirm the release.", "resource"),

		constructHeld: b.gauge("construct_held",
			"Valid leases of constructs that this process holds, by kind of construct.", "resource", "kind"),
		constructWaiting: b.gauge("construct_waiting",
			"Acquire calls of constructs in progress, by kind of construct.", "resource", "kind"),
		constructEnded: b.counter("construct_ended_total",
			"Leases of constructs that ended, by kind of construct and by cause.", "resource", "kind", "end"),
		candidates: b.gauge("candidates",
			"Campaigns in progress, by what the candidate knows of a leader.", "resource", "leader"),
		term: b.gauge("term", "Number of the term in which this process leads; 0 if it does not lead.", "resource"),
		termSince: b.gauge("term_since_timestamp_seconds",
			"Start of the term in which this process leads, in seconds since 1970; 0 if it does not lead.", "resource"),
		slots: b.gauge("slots", "Slots of the semaphore, as this process last asked for one.", "resource"),

		nodeDuration: b.histogram("node_duration_seconds",
			"Duration of commands sent to the node, in seconds.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}, "lock_node", "backend", "operation"),
		nodeFailures: b.counter("node_failures_total",
			"Commands that the node did not carry out, by reason. A refused vote is not a failure.",
			"lock_node", "backend", "operation", "reason"),
		nodeUp: b.gauge("node_up",
			"1 if the node answers, else 0; absent if it was not asked for two minutes.", "lock_node", "backend"),
		nodeUsable: b.gauge("node_usable",
			"1 if the node answers and may vote; 0 if it is down, quarantined or refused by its guard; "+
				"absent if it was not asked for two minutes.",
			"lock_node", "backend"),
		nodeSkew: b.gauge("node_clock_skew_seconds",
			"How far the node's clock is ahead of this process's, in seconds; negative if it is behind.",
			"lock_node", "backend"),
		nodeRestarts: b.counter("node_restarts_total",
			"Detected restarts of the node, including a start shortly before first contact. "+
				"enforced is true if the node does not vote until the locks it may have forgotten have expired.",
			"lock_node", "backend", "enforced"),
		nodeEvicted: b.counter("node_evictions_total",
			"Times that keys evicted by the node for lack of memory were detected; locks may be among them.",
			"lock_node", "backend"),
		nodes:  b.gauge("nodes", "Nodes asked in a voting round.", "backend"),
		quorum: b.gauge("quorum_nodes", "Nodes that must agree in a voting round.", "backend"),
		margin: b.plainHistogram("vote_margin",
			"Votes beyond the quorum in won rounds of three or more nodes, including late votes. "+
				"At 0, one more failed node costs the quorum.",
			[]float64{0, 1, 2, 3, 4}),
		overflow: b.plainCounter("resource_overflow_total",
			"Acquire calls counted under resource=other because there were too many resources."),
		labelOverflow: b.plainCounter("label_overflow_total",
			"Acquire calls with a label counted as other because it had too many values."),
		panics: b.plainCounter("observer_panics_total",
			"Recovered panics of label functions, tracers and log handlers."),
	}
	c.blame = newBlame(b.counter("inflicted_wait_seconds_total",
		"Time in seconds that calls of this process waited behind a holder, by instance and call site of the holder, "+
			"including calls in progress.", "holder", "call_site", "resource"), s.IdleResources)
	c.all, c.perResource = b.all, b.perResource
	return c
}

// forget deletes the series of a resource with these labels.
func (c *catalogue) forget(labels prometheus.Labels) {
	for _, v := range c.perResource {
		v.DeletePartialMatch(labels)
	}
}
