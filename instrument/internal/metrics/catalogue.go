package metrics

import "github.com/prometheus/client_golang/prometheus"

// catalogue is every metric there is.
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

	nodeDuration *prometheus.HistogramVec
	nodeFailures *prometheus.CounterVec
	nodeRestarts *prometheus.CounterVec
	nodeEvicted  *prometheus.CounterVec
	nodeUp       *prometheus.GaugeVec
	nodeUsable   *prometheus.GaugeVec
	// nodes and quorum do not exist before they are known: 0 would be a wrong answer.
	nodes, quorum *prometheus.GaugeVec

	margin           prometheus.Histogram
	overflow, panics prometheus.Counter
	labelOverflow    prometheus.Counter
}

// newCatalogue makes the metrics; those of a resource have more labels behind it.
func newCatalogue(native bool, more []string) *catalogue {
	b := &builder{native: native, more: more}
	c := &catalogue{
		wait: b.histogram("wait_seconds", "Time from calling Acquire to its return, whatever the outcome.",
			[]float64{.001, .005, .01, .05, .1, .5, 1, 5}, "resource"),
		failures: b.counter("failures_total",
			"Calls of Acquire that ended without the lock. A NoWait call that found it held is not "+
				"one.", "resource"),
		acquisitions: b.counter("acquisitions_total",
			"Calls of Acquire that have ended, by outcome.", "resource", "outcome"),
		attempts: b.counter("attempts_total", "Rounds of voting made by calls of Acquire.", "resource"),
		handOvers: b.counter("handovers_total",
			"Calls of Acquire that were handed the lock by another lease of their process, without "+
				"asking a node.", "resource"),
		deadlocks: b.counter("deadlocks_total",
			"Cycles of leases of this process whose calls wait for one another, found as a call began "+
				"to wait.", "resource"),
		waiting: b.gauge("waiting", "Calls of Acquire that have not returned yet.", "resource"),
		waitingSince: b.gauge("waiting_since_timestamp_seconds",
			"When the longest call of Acquire under way began, in seconds since 1970; 0 if none is "+
				"under way.", "resource"),
		waitingAbove: b.gauge("waiting_above_objective",
			"Calls of Acquire under way that have waited for longer than the objective.", "resource"),
		waitingStalled: b.gauge("waiting_without_quorum",
			"Calls of Acquire under way that have waited for longer than the objective, "+
				"and for which too few nodes answered last.", "resource"),
		longWait: b.counter("long_waits_total",
			"Calls of Acquire that waited for longer than the threshold of the long-wait log.", "resource"),
		held: b.gauge("held", "Leases that this process holds.", "resource"),
		heldSince: b.gauge("held_since_timestamp_seconds",
			"When the lease that this process has held for longest was acquired, in seconds since "+
				"1970; 0 if it holds none.", "resource"),
		hold: b.histogram("hold_seconds",
			"Time from acquiring a lease to the end of its release, or to its loss.",
			[]float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300}, "resource"),
		validity: b.histogram("validity_seconds", "Validity left of a lease when it was acquired.",
			[]float64{.01, .05, .1, .5, 1, 5, 10, 30, 60}, "resource"),
		extensions: b.counter("extensions_total", "Rounds of renewal, by outcome.", "resource", "outcome"),
		lost: b.counter("lost_total",
			"Leases that ended before they were released, by reason.", "resource", "reason"),
		releaseFailures: b.counter("release_failures_total",
			"Releases that found the lease gone, or could not tell.", "resource"),

		nodeDuration: b.histogram("node_duration_seconds",
			"Time a node took for one command that could be sent.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}, "lock_node", "backend", "operation"),
		nodeFailures: b.counter("node_failures_total",
			"Commands a node did not carry out, by reason. Saying no is not a failure.",
			"lock_node", "backend", "operation", "reason"),
		nodeUp: b.gauge("node_up", "Whether the last command on a node got an answer.", "lock_node", "backend"),
		nodeUsable: b.gauge("node_usable",
			"Whether the node may vote, as far as it was heard: 0 if it does not answer, or its guard refused.",
			"lock_node", "backend"),
		nodeRestarts: b.counter("node_restarts_total",
			"Restarts of a node that were noticed, and nodes met shortly after their start; "+
				"enforced: it does not vote while locks it may have forgotten can be valid.",
			"lock_node", "backend", "enforced"),
		nodeEvicted: b.counter("node_evictions_total",
			"Times a node was found to have dropped keys for want of memory, locks perhaps among them.",
			"lock_node", "backend"),
		nodes:  b.gauge("nodes", "Nodes that are asked.", "backend"),
		quorum: b.gauge("quorum_nodes", "Nodes that must agree.", "backend"),
		margin: b.plainHistogram("vote_margin",
			"Votes beyond the quorum in won rounds, late votes included, of sets of three nodes or "+
				"more; at 0, one failing node more is one too many.",
			[]float64{0, 1, 2, 3, 4}),
		overflow: b.plainCounter("resource_overflow_total",
			"Calls of Acquire whose resource label became other because there are too many resources."),
		labelOverflow: b.plainCounter("label_overflow_total",
			"Calls of Acquire with a label whose value became other because there are too many values."),
		panics: b.plainCounter("observer_panics_total",
			"Panics of label functions, tracers and log handlers that were contained."),
	}
	c.all, c.perResource = b.all, b.perResource
	return c
}

// forget deletes the series of a resource that have these labels.
func (c *catalogue) forget(labels prometheus.Labels) {
	for _, v := range c.perResource {
		v.DeletePartialMatch(labels)
	}
}
