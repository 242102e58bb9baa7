package exporter

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// WaitTotals sums up the queues of all processes as of their last reading.
type WaitTotals struct {
	Deadlocks   int           // not known to be resolved
	Found       uint64        // deadlocks since the process started
	Blocked     int           // locks with waiters
	Waiting     int           // waiting calls, as reported by their processes
	Longest     time.Duration // longest wait among them
	LastSuccess time.Time     // when a majority of the nodes was last read; zero if never
}

// WaitSource reports who waits for locks. It must be safe for concurrent use and answer from memory.
type WaitSource interface {
	WaitTotals() WaitTotals
}

type waitCollector struct {
	source WaitSource

	deadlocks, found, blocked, waiting, longest, success *prometheus.Desc
}

func newWaitCollector(s WaitSource) prometheus.Collector {
	const read = " Cached; see distributed_lock_scanner_waits_last_success_timestamp_seconds."
	return &waitCollector{
		source: s,
		deadlocks: desc("deadlocks",
			"Deadlocks in one process or across several that are not known to be resolved."+read),
		found:   desc("deadlocks_found_total", "Deadlocks detected in the queues of waiting processes."),
		blocked: desc("blocked_locks", "Locks with at least one waiting process, without elections."+read),
		waiting: desc("waiting_calls",
			"Calls that wait for locks, as reported by their processes on the nodes; candidates stand by and do not count."+read),
		longest: desc("longest_wait_seconds",
			"Longest wait among waiting calls, in seconds; 0 if none waits."+read),
		success: desc("waits_last_success_timestamp_seconds",
			"Time when the queues of a majority of nodes were last read, in seconds since 1970; 0 before that."),
	}
}

func (c *waitCollector) all() []*prometheus.Desc {
	return []*prometheus.Desc{c.deadlocks, c.found, c.blocked, c.waiting, c.longest, c.success}
}

// Describe implements prometheus.Collector.
func (c *waitCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.all() {
		ch <- d
	}
}

// Collect implements prometheus.Collector. A panic of the source costs only these metrics.
func (c *waitCollector) Collect(ch chan<- prometheus.Metric) {
	t, err := c.totals()
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.deadlocks, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	gauge(c.deadlocks, float64(t.Deadlocks))
	gauge(c.blocked, float64(t.Blocked))
	gauge(c.waiting, float64(t.Waiting))
	gauge(c.longest, t.Longest.Seconds())
	gauge(c.success, seconds(t.LastSuccess))
	ch <- prometheus.MustNewConstMetric(c.found, prometheus.CounterValue, float64(t.Found))
}

func (c *waitCollector) totals() (t WaitTotals, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the source of wait totals panicked")
		}
	}()
	return c.source.WaitTotals(), nil
}
