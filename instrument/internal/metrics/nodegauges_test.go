package metrics

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// TestNodeGaugesBeforeAnAnswer: a node that has not answered yet has no gauge, which would read 0.
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
		"other":      {errors.New("OOM"), "1", "none"},
		"quarantine": {driver.ErrQuarantined, "1", "0"},
	} {
		m := New(Settings{MaxResources: 1})
		start := lock.NodeStart{Backend: lock.Backend{Name: "redis"}, Node: "r1", Op: lock.OpAcquire}
		m.NodeEnd(lock.NodeEnd{NodeStart: start, Err: c.err})
		if up, usable := only(t, m.nodeUp), only(t, m.nodeUsable); up != c.up || usable != c.usable {
			t.Errorf("%s: up is %s and usable %s, want %s and %s", name, up, usable, c.up, c.usable)
		}
	}
}

// TestProgressOf distinguishes rounds that found too few nodes from rounds that met a holder or each other.
func TestProgressOf(t *testing.T) {
	end := func(granted, refused, failed int, err error) lock.AttemptEnd {
		return lock.AttemptEnd{Nodes: 5, Quorum: 3, Granted: granted, Refused: refused, Failed: failed, Err: err}
	}
	for name, c := range map[string]struct {
		end  lock.AttemptEnd
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
