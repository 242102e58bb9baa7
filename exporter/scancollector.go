package exporter

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// MaxLeakedLockInfo is the largest number of series that WithLeakedLockInfo can ask for.
const MaxLeakedLockInfo = 20

// Snapshotter reports what a scanner has found. It must be safe for concurrent use and answer from memory.
// scanner.Scanner is one.
type Snapshotter interface {
	Snapshot() scanner.Snapshot
}

// ScanOption configures NewScanCollector.
type ScanOption func(*scanCollector)

// WithLeakedLockInfo adds one series with the key for each of the n worst confirmed leaks, at most MaxLeakedLockInfo.
// It is off by default, because each leaked key is a new series.
func WithLeakedLockInfo(n int) ScanOption {
	return func(c *scanCollector) { c.leaks = min(max(n, 0), MaxLeakedLockInfo) }
}

type scanCollector struct {
	source Snapshotter
	leaks  int
	nodes  []nodeMetric

	duration, findings, keys, omitted, excluded, incomplete, silent, standby, unelected, memory, leak *prometheus.Desc
}

// NewScanCollector makes a collector of what s has found. It reads the snapshot of the last sweep when it is
// collected, and never Redis. With a nil s it collects nothing.
func NewScanCollector(s Snapshotter, opts ...ScanOption) prometheus.Collector {
	c := &scanCollector{
		source: s,
		nodes:  nodeMetrics(),
		duration: desc("pass_duration_seconds",
			"Duration of sweeps of the node in seconds, including failed ones.", "lock_node"),
		findings: desc("findings", "Confirmed findings in the last sweep, by class."+cached, "lock_node", "class"),
		keys: desc("finding_keys",
			"Distinct keys with a confirmed finding in the last sweep, by class."+cached, "class"),
		omitted: desc("findings_omitted",
			"Findings in the last sweep beyond the limit, counted but not kept."+cached),
		excluded: desc("findings_excluded",
			"Findings in the last sweep that configured exclusions left out."+cached),
		incomplete: desc("incomplete",
			"Parts of the keyspace that the last sweep could not read, by reason."+cached, "reason"),
		silent: desc("silent_locks",
			"Locks that sweeps saw regularly for a day and no longer see."+cached),
		standby: desc("standby",
			"1 if this process left its last sweep to the holder of the scanner's lock, else 0."),
		unelected: desc("unelected",
			"1 if the last sweep ran without the scanner's lock because nobody could acquire it, else 0."+cached),
		memory: desc("memory_failures_total",
			"Sweeps that could not load or save what earlier sweeps knew (--state)."),
		leak: desc("leaked_lock_info",
			"1 for each of the worst confirmed locks without a TTL."+cached, "lock_node", "key"),
	}
	for _, opt := range opts {
		if opt != nil {
			opt(c)
		}
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *scanCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range c.nodes {
		ch <- m.desc
	}
	ch <- c.duration
	ch <- c.findings
	ch <- c.keys
	ch <- c.omitted
	ch <- c.excluded
	ch <- c.incomplete
	ch <- c.silent
	ch <- c.standby
	ch <- c.unelected
	ch <- c.memory
	if c.leaks > 0 {
		ch <- c.leak
	}
}

// Collect implements prometheus.Collector. A panic of the source costs only these metrics. Its value is dropped,
// because it may contain anything and a registry would log it.
func (c *scanCollector) Collect(ch chan<- prometheus.Metric) {
	if c.source == nil {
		return
	}
	s, err := c.snapshot()
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.findings, err)
		return
	}
	seen := make(map[string]bool) // two series of a name would fail the whole scrape
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if name := label(n.Node, maxKeyLabel); !seen[name] {
			seen[name] = true
			c.collectNode(ch, n, name, s.Standby || n.Standby)
		}
	}
	ch <- prometheus.MustNewConstMetric(c.standby, prometheus.GaugeValue, boolean(s.Standby))
	ch <- prometheus.MustNewConstMetric(c.memory, prometheus.CounterValue, float64(s.MemoryFailures))
	if s.Standby {
		return // another process reports the nodes: see collectNode
	}
	ch <- prometheus.MustNewConstMetric(c.omitted, prometheus.GaugeValue, float64(s.Last.Overflow))
	excluded := 0
	for _, e := range s.Last.Excluded {
		excluded += e.Findings
	}
	ch <- prometheus.MustNewConstMetric(c.excluded, prometheus.GaugeValue, float64(excluded))
	c.collectKeys(ch, &s)
	c.collectGaps(ch, &s)
	c.collectLeaks(ch, s.Last.Findings)
}

// collectGaps reports nothing before the first sweep, so that an alert does not take missing data for completeness.
func (c *scanCollector) collectGaps(ch chan<- prometheus.Metric, s *scanner.Snapshot) {
	last := &s.Last
	if last.Started.IsZero() {
		return
	}
	ch <- prometheus.MustNewConstMetric(c.silent, prometheus.GaugeValue, float64(last.Silents))
	ch <- prometheus.MustNewConstMetric(c.unelected, prometheus.GaugeValue, boolean(last.Unelected))
	gaps := make(map[inspect.Reason]int)
	for _, g := range last.Incomplete() {
		gaps[g.Reason]++
	}
	for _, reason := range inspect.Reasons() {
		ch <- prometheus.MustNewConstMetric(c.incomplete, prometheus.GaugeValue, float64(gaps[reason]), string(reason))
	}
}

func (c *scanCollector) snapshot() (s scanner.Snapshot, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the scanner's snapshot panicked")
		}
	}()
	return c.source.Snapshot(), nil
}

// collectNode leaves out a standby's own findings, which are old and may be healed.
func (c *scanCollector) collectNode(ch chan<- prometheus.Metric, n *scanner.NodeTotals, name string, standby bool) {
	for _, m := range c.nodes {
		if m.has(n, standby) {
			ch <- m.of(n, name)
		}
	}
	d := n.Durations
	ch <- prometheus.MustNewConstHistogram(c.duration, d.Count, d.Sum.Seconds(), d.Buckets, name)
	if standby {
		return
	}
	for _, class := range inspect.Classes() {
		count := float64(n.Counts[class])
		ch <- prometheus.MustNewConstMetric(c.findings, prometheus.GaugeValue, count, name, string(class))
	}
}

// collectKeys counts the keys with a finding. It reports nothing before the first sweep.
func (c *scanCollector) collectKeys(ch chan<- prometheus.Metric, s *scanner.Snapshot) {
	if s.Last.Started.IsZero() {
		return
	}
	counts := findingKeys(s)
	for _, class := range inspect.Classes() {
		ch <- prometheus.MustNewConstMetric(c.keys, prometheus.GaugeValue, float64(counts[class]), string(class))
	}
}

func (c *scanCollector) collectLeaks(ch chan<- prometheus.Metric, findings []report.Finding) {
	seen := make(map[[2]string]bool)
	for _, f := range findings {
		if len(seen) >= c.leaks {
			return
		}
		id := [2]string{label(f.Node, maxKeyLabel), label(f.Lock(), maxKeyLabel)}
		if f.Class != inspect.NoTTL || !f.Confirmed || seen[id] {
			continue
		}
		seen[id] = true
		ch <- prometheus.MustNewConstMetric(c.leak, prometheus.GaugeValue, 1, id[:]...)
	}
}
