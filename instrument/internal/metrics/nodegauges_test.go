package metrics

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestNodeGaugesBeforeAnAnswer: a node whose state is unknown has no gauge, which would read 0.
func TestNodeGaugesBeforeAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		err        error
		up, usable string
	}{
		"canceled":   {context.Canceled, "none", "none"},
		"unheard":    {driver.ErrUnheard, "none", "none"},
		"not asked":  {driver.ErrNotSent, "none", "none"},
		"granted":    {nil, "1", "1"},
		"timed out":  {context.DeadlineExceeded, "0", "0"},
		"other":      {errors.New("OOM"), "1", "0"},
		"quarantine": {driver.ErrQuarantined, "1", "0"},
	} {
		m := New(Settings{MaxResources: 1})
		start := locktrace.NodeStart{Backend: locktrace.Backend{Name: "redis"}, Node: "r1", Op: lock.OpAcquire}
		m.NodeEnd(locktrace.NodeEnd{NodeStart: start, Err: c.err}, nil)
		if up, usable := gauges(t, m); up != c.up || usable != c.usable {
			t.Errorf("%s: up is %s and usable %s, want %s and %s", name, up, usable, c.up, c.usable)
		}
	}
}

// TestNodeGaugesAge: a quarantine ends without a call, and a node that nobody asked for two minutes has no gauges: the
// scanner's view decides.
func TestNodeGaugesAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Settings{MaxResources: 1})
		ask := func(err error) {
			start := locktrace.NodeStart{Backend: locktrace.Backend{Name: "redis"}, Node: "r1", Op: lock.OpAcquire}
			m.NodeEnd(locktrace.NodeEnd{NodeStart: start, Err: err}, nil)
		}
		wants := func(what, wantUp, wantUsable string) {
			t.Helper()
			if up, usable := gauges(t, m); up != wantUp || usable != wantUsable {
				t.Errorf("%s: up is %s and usable %s, want %s and %s", what, up, usable, wantUp, wantUsable)
			}
		}
		ask(nil)
		ask(&driver.QuarantineError{Left: 61 * time.Second})
		wants("in quarantine", "1", "0")
		time.Sleep(62 * time.Second)
		wants("a second after its end", "1", "1")
		time.Sleep(time.Minute)
		wants("not asked for two minutes", "none", "none")
		ask(nil)
		wants("asked again", "1", "1")
		for range 100 {
			ask(nil)
			ask(driver.ErrTimeout)
			wants("half of its commands fail", "1", "1")
		}
	})
}

// TestProgressOf distinguishes rounds that found too few nodes from rounds that met a holder or each other.
func TestProgressOf(t *testing.T) {
	end := func(granted, refused, failed int, err error) locktrace.AttemptEnd {
		return locktrace.AttemptEnd{Nodes: 5, Quorum: 3, Granted: granted, Refused: refused, Failed: failed, Err: err}
	}
	for name, c := range map[string]struct {
		end  locktrace.AttemptEnd
		want progress
	}{
		"won":                        {end(3, 0, 0, nil), undecided},
		"held":                       {end(0, 3, 2, &lock.HeldError{}), undecided},
		"split":                      {end(2, 2, 1, &lock.QuorumError{}), undecided},
		"split, two nodes are gone":  {end(2, 1, 2, &lock.QuorumError{}), undecided},
		"three nodes are gone":       {end(1, 1, 3, &lock.QuorumError{}), withoutQuorum},
		"too late":                   {end(3, 0, 0, lock.ErrTooLate), withoutQuorum},
		"the fence was not agreed":   {end(3, 0, 2, &lock.QuorumError{Op: lock.OpRaise}), withoutQuorum},
		"the caller has turned away": {end(0, 0, 5, context.Canceled), undecided},
	} {
		if got := progressOf(c.end); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// gauges returns what the metrics say of the only node.
func gauges(t *testing.T, m *Metrics) (up, usable string) {
	t.Helper()
	sink := make(chan prometheus.Metric, 1000)
	m.Collect(sink)
	return only(t, m.nodeUp), only(t, m.nodeUsable)
}

// only returns the value of the only child, or none.
func only(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	all := make(chan prometheus.Metric, 2)
	c.Collect(all)
	close(all)
	for m := range all {
		return valueOf(t, m)
	}
	return "none"
}

func valueOf(t *testing.T, m prometheus.Metric) string {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return strconv.FormatFloat(out.GetGauge().GetValue(), 'g', -1, 64)
}
