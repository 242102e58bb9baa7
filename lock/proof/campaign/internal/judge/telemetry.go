//go:build linux

package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

// telemetry: metrics and logs tell the same story as the worker's own history. Of a worker
// that came to its end every counter is compared to the call; of one that was killed, what
// it said last must be what its history allows at that instant.
func (c *court) telemetry() {
	for _, w := range c.evidence.Workers {
		if w.Failed != "" {
			continue
		}
		if last := len(w.Dumps) - 1; last >= 0 {
			c.metrics(w, w.Dumps[last])
		}
		if !w.Killed && (len(w.Dumps) == 0 || !w.Dumps[len(w.Dumps)-1].Last) {
			c.find(Telemetry, "", w.To, "%s has ended without its last metrics", w.Name)
		}
		c.log(w)
	}
}

// bounds are what the history allows a counter to be at the time of a dump.
type bounds struct{ least, most int }

// unordered is how long one of two observers of the same event may come after the other; a
// process may be stopped between them.
const unordered = int64(10e9)

// counted are the families that histories tell of; gauges of what goes on must be 0 at the end.
var counted = []string{
	"acquisitions_total", "failures_total", "handovers_total", "attempts_total", "lost_total", "release_failures_total",
	"extensions_total", "node_restarts_total", "wait_seconds", "hold_seconds", "held", "waiting",
	"observer_panics_total",
}

// tally counts by series. Losses have a reason in metrics that histories do not know: they
// are counted as lost and max_hold.
type tally struct {
	dump   worker.Dump
	series map[string]*bounds
}

func (t tally) of(series string) *bounds {
	if t.series[series] == nil {
		t.series[series] = new(bounds)
	}
	return t.series[series]
}

// add counts an event. At the time of the dump it was counted if it was over for so long,
// and not before it happened.
func (t tally) add(series string, at, after int64) {
	s := t.of(series)
	if t.dump.Last || at+after <= t.dump.From {
		s.least++
	}
	if t.dump.Last || at <= t.dump.To {
		s.most++
	}
}

// open is for what is under way from one instant to another, 0 for never, and may have been
// counted up to n times by then.
func (t tally) open(series string, from, to int64, n int) {
	if !t.dump.Last && from <= t.dump.To && (to == 0 || to > t.dump.To) {
		t.of(series).most += n
	}
}

// tally is what the history says a dump must say.
func (w *Worker) tally(d worker.Dump) tally {
	t := tally{d, make(map[string]*bounds)}
	calls := make(map[int64]history.Event)
	releases := make(map[int64]history.Event)
	for _, e := range w.Events {
		switch e.Kind {
		case history.Call:
			calls[e.ID] = e
		case history.Return:
			t.returned(e)
			t.acquiring(e.Resource, calls[e.ID].T, e.T)
			delete(calls, e.ID)
		case history.Renewed:
			outcome := map[string]string{"renewed": "ok", "lost": "lost", "overtaken": "overtaken"}[e.Outcome]
			if outcome == "" {
				outcome = "error"
			}
			t.add(fmt.Sprintf("extensions_total{outcome=%s,resource=%s}", outcome, e.Resource), e.T, unordered)
		case history.Restart:
			t.add(fmt.Sprintf("node_restarts_total{backend=redis,enforced=%t,lock_node=%s}", e.Enforced, e.Node), e.T,
				unordered)
		case history.Release:
			releases[e.ID] = e
		case history.Released:
			if e.Outcome != "" {
				t.add(releaseFailures(e), e.T, 0)
			}
			t.open(releaseFailures(e), releases[e.ID].T, e.T, 1)
			delete(releases, e.ID)
		}
	}
	for _, e := range calls {
		t.acquiring(e.Resource, e.T, 0)
	}
	for _, e := range releases {
		t.open(releaseFailures(e), e.T, 0, 1)
	}
	for _, l := range leasesOf(w) {
		t.lease(l)
	}
	return t
}

func releaseFailures(e history.Event) string {
	return "release_failures_total{resource=" + e.Resource + "}"
}

// outcomes are the metrics' words for the reasons of errors.
var outcomes = map[string]string{"": "acquired", "held": "contended", "timeout": "timeout", "canceled": "canceled",
	"no_quorum": "no_quorum"}

func (t tally) returned(e history.Event) {
	outcome := outcomes[e.Outcome]
	if outcome == "" {
		outcome = "error"
	}
	t.add(fmt.Sprintf("acquisitions_total{outcome=%s,resource=%s}", outcome, e.Resource), e.T, 0)
	t.add("wait_seconds{resource="+e.Resource+"}", e.T, 0)
	if e.Outcome != "" && (e.Outcome != "held" || !e.NoWait) {
		t.add("failures_total{resource="+e.Resource+"}", e.T, 0)
	}
	if e.HandedOver {
		t.add("handovers_total{resource="+e.Resource+"}", e.T, 0)
	}
	for range e.Attempts {
		t.add("attempts_total{resource="+e.Resource+"}", e.T, 0)
	}
}

// manyAttempts is more than one Acquire makes.
const manyAttempts = 1000

// acquiring is an Acquire that is under way: it may have been counted in any way.
func (t tally) acquiring(resource string, from, to int64) {
	for outcome := range maps.Values(outcomes) {
		t.open(fmt.Sprintf("acquisitions_total{outcome=%s,resource=%s}", outcome, resource), from, to, 1)
	}
	for _, family := range []string{"wait_seconds", "failures_total", "handovers_total"} {
		t.open(family+"{resource="+resource+"}", from, to, 1)
	}
	t.open("attempts_total{resource="+resource+"}", from, to, manyAttempts)
}

// lease counts its end.
func (t tally) lease(l *Lease) {
	lost := fmt.Sprintf("lost_total{reason=lost,resource=%s}", l.Resource)
	limited := fmt.Sprintf("lost_total{reason=max_hold,resource=%s}", l.Resource)
	hold := "hold_seconds{resource=" + l.Resource + "}"
	over := int64(0)
	if l.Ended != nil {
		over = l.Ended.T
		t.add(hold, over, unordered)
		switch l.Ended.Outcome {
		case "lost":
			t.add(lost, over, unordered)
		case "max_hold":
			t.add(limited, over, unordered)
		}
	}
	for _, series := range []string{lost, limited, hold} {
		t.open(series, l.Granted, over, 1)
	}
}

// metrics compares a dump with the history.
func (c *court) metrics(w *Worker, d worker.Dump) {
	told, values := w.tally(d), knownSeries(d.Values)
	names := make(map[string]bool)
	for name := range values {
		names[name] = true
	}
	for name := range told.series {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !d.Last && (strings.HasPrefix(name, "held{") || strings.HasPrefix(name, "waiting{")) {
			continue // gauges of what goes on
		}
		b := told.of(name)
		if got := int(values[name]); got < b.least || got > b.most {
			c.find(Telemetry, name, d.To, "the metrics of %s say %d, and its history between %d and %d", w.Name, got,
				b.least, b.most)
		}
	}
}

// knownSeries are the series that histories tell of, with the reasons of losses as they know them.
func knownSeries(values map[string]float64) map[string]float64 {
	all := make(map[string]float64)
	for name, v := range values {
		family, _, _ := strings.Cut(name, "{")
		if !slices.Contains(counted, family) {
			continue
		}
		for _, reason := range []string{"expired", "extend_failed", "taken_over"} {
			name = strings.Replace(name, "reason="+reason+",", "reason=lost,", 1)
		}
		all[name] += v
	}
	return all
}
