package instrument

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// metrics is the catalogue: every metric there is, and its children so far.
type metrics struct {
	shared
	all []prometheus.Collector

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
	sizes         sync.Map // what they say, by name of the back end: a size

	margin           prometheus.Histogram
	overflow, panics prometheus.Counter
	labelOverflow    prometheus.Counter

	perResource []vec

	mu         sync.RWMutex
	labels     labelSet
	callLabels callLabels

	nodesMu  sync.Mutex
	backends int                               // asked to be told apart
	byNode   atomic.Pointer[map[nodeKey]*node] // replaced, with nodesMu held, and never changed
}

func newMetrics(cfg shared) *metrics {
	b := &builder{native: cfg.native, more: cfg.labels}
	m := &metrics{
		shared: cfg, labels: newLabelSet(cfg.maxResources, cfg.idleResources), callLabels: newCallLabels(cfg.labels),

		wait: b.histogram("wait_seconds", "Time from calling Acquire to its return, whatever the outcome.",
			[]float64{.001, .005, .01, .05, .1, .5, 1, 5}, "resource"),
		failures:     b.counter("failures_total", "Calls of Acquire that ended without the lock. A NoWait call that found it held is not one.", "resource"),
		acquisitions: b.counter("acquisitions_total", "Calls of Acquire that have ended, by outcome.", "resource", "outcome"),
		attempts:     b.counter("attempts_total", "Rounds of voting made by calls of Acquire.", "resource"),
		handOvers:    b.counter("handovers_total", "Calls of Acquire that were handed the lock by another lease of their process, without asking a node.", "resource"),
		deadlocks:    b.counter("deadlocks_total", "Cycles of leases of this process whose calls wait for one another, found as a call began to wait.", "resource"),
		waiting:      b.gauge("waiting", "Calls of Acquire that have not returned yet.", "resource"),
		waitingSince: b.gauge("waiting_since_timestamp_seconds", "When the longest call of Acquire under way began, in seconds since 1970; 0 if none is under way.", "resource"),
		waitingAbove: b.gauge("waiting_above_objective", "Calls of Acquire under way that have waited for longer than the objective.", "resource"),
		waitingStalled: b.gauge("waiting_without_quorum", "Calls of Acquire under way that have waited for longer than the objective, "+
			"and for which too few nodes answered last.", "resource"),
		longWait:  b.counter("long_waits_total", "Calls of Acquire that waited for longer than the threshold of the long-wait log.", "resource"),
		held:      b.gauge("held", "Leases that this process holds.", "resource"),
		heldSince: b.gauge("held_since_timestamp_seconds", "When the lease that this process has held for longest was acquired, in seconds since 1970; 0 if it holds none.", "resource"),
		hold: b.histogram("hold_seconds", "Time from acquiring a lease to the end of its release, or to its loss.",
			[]float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300}, "resource"),
		validity: b.histogram("validity_seconds", "Validity left of a lease when it was acquired.",
			[]float64{.01, .05, .1, .5, 1, 5, 10, 30, 60}, "resource"),
		extensions:      b.counter("extensions_total", "Rounds of renewal, by outcome.", "resource", "outcome"),
		lost:            b.counter("lost_total", "Leases that ended before they were released, by reason.", "resource", "reason"),
		releaseFailures: b.counter("release_failures_total", "Releases that found the lease gone, or could not tell.", "resource"),

		nodeDuration: b.histogram("node_duration_seconds", "Time a node took for one command that could be sent.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}, "lock_node", "backend", "operation"),
		nodeFailures: b.counter("node_failures_total", "Commands a node did not carry out, by reason. Saying no is not a failure.",
			"lock_node", "backend", "operation", "reason"),
		nodeUp: b.gauge("node_up", "Whether the last command on a node got an answer.", "lock_node", "backend"),
		nodeUsable: b.gauge("node_usable", "Whether the node may vote, as far as it was heard: 0 if it does not answer, or its guard refused.",
			"lock_node", "backend"),
		nodeRestarts: b.counter("node_restarts_total", "Restarts of a node that were noticed, and nodes met shortly after their start; "+
			"enforced: it does not vote while locks it may have forgotten can be valid.", "lock_node", "backend", "enforced"),
		nodeEvicted: b.counter("node_evictions_total", "Times a node was found to have dropped keys for want of memory, locks perhaps among them.",
			"lock_node", "backend"),
		nodes:  b.gauge("nodes", "Nodes that are asked.", "backend"),
		quorum: b.gauge("quorum_nodes", "Nodes that must agree.", "backend"),
		margin: b.plainHistogram("vote_margin", "Votes beyond the quorum in won rounds, late votes included, of sets of three nodes or more; at 0, one failing node more is one too many.",
			[]float64{0, 1, 2, 3, 4}),
		overflow: b.plainCounter("resource_overflow_total", "Calls of Acquire whose resource label became other because there are too many resources."),
		labelOverflow: b.plainCounter("label_overflow_total",
			"Calls of Acquire with a label whose value became other because there are too many values."),
		panics: b.plainCounter("observer_panics_total", "Panics of label functions, tracers and log handlers that were contained."),
	}
	m.all, m.perResource = b.all, b.perResource
	m.byNode.Store(new(map[nodeKey]*node))
	return m
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range m.all {
		c.Describe(ch)
	}
}

// Collect implements prometheus.Collector. It lets go of what has been idle for long.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	m.letGo()
	m.tellWaits()
	for _, c := range m.all {
		c.Collect(ch)
	}
}

// register returns the metrics to use: m, or those that another decorator has
// registered before.
func register(r prometheus.Registerer, m *metrics) (*metrics, error) {
	if r == nil {
		return m, nil
	}
	if v := reflect.ValueOf(r); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("%w: WithRegisterer: a nil %T", ErrInvalidOption, r)
	}
	err := r.Register(m)
	var already prometheus.AlreadyRegisteredError
	if !errors.As(err, &already) {
		if err != nil {
			return nil, fmt.Errorf("instrument: register metrics: %w", err)
		}
		return m, nil
	}
	switch known := already.ExistingCollector.(type) {
	case *metrics:
		return known, known.agrees(m.shared)
	case *Locker: // registered by hand
		return known.metrics, known.metrics.agrees(m.shared)
	default:
		// The registry compares descriptions only: same names, something else.
		return nil, fmt.Errorf("instrument: register metrics: a foreign %T has taken their names: %w", known, err)
	}
}

// agrees refuses options that the metrics of a registry cannot have any more.
func (m *metrics) agrees(asked shared) error {
	have := m.shared
	for _, o := range []struct {
		given     bool
		name      string
		has, asks any
	}{
		{asked.given&givenMaxResources != 0, "WithMaxResources", have.maxResources, asked.maxResources},
		{asked.given&givenIdleResources != 0, "WithIdleResources", have.idleResources, asked.idleResources},
		{asked.given&givenWaitObjective != 0, "WithWaitObjective", have.waitObjective, asked.waitObjective},
		{asked.given&givenNative != 0, "WithNativeHistograms", have.native, asked.native},
	} {
		if o.given && o.has != o.asks {
			return fmt.Errorf("%w: %s: the metrics of this registry are those of another decorator, with %v and not %v: "+
				"give both the same, or each a registry", ErrInvalidOption, o.name, o.has, o.asks)
		}
	}
	return nil
}

// observe adds an exemplar if its trace is kept, so that it leads somewhere.
func observe(o prometheus.Observer, d time.Duration, sc trace.SpanContext) {
	if sc.IsSampled() && sc.IsValid() {
		if e, ok := o.(prometheus.ExemplarObserver); ok {
			e.ObserveWithExemplar(d.Seconds(), prometheus.Labels{"trace_id": sc.TraceID().String(), "span_id": sc.SpanID().String()})
			return
		}
	}
	o.Observe(d.Seconds())
}
