package exporter_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/lockscope/lockscope/exporter"
)

// waiting reports three processes, two of them in a deadlock.
type waiting struct{}

func (waiting) WaitTotals() exporter.WaitTotals {
	return exporter.WaitTotals{
		Deadlocks: 1, Found: 3, Blocked: 2, Waiting: 12, Longest: 4200 * time.Millisecond,
		LastSuccess: time.UnixMilli(1_700_000_000_500),
	}
}

type panickingWaits struct{}

func (panickingWaits) WaitTotals() exporter.WaitTotals { panic("secret") }

func TestWaitCollector(t *testing.T) {
	_, text := get(newExporter(t, exporter.WithWaits(waiting{})), "/metrics")
	contains(t, text, "\ndistributed_lock_scanner_deadlocks 1\n",
		"\ndistributed_lock_scanner_deadlocks_found_total 3\n",
		"\ndistributed_lock_scanner_blocked_locks 2\n", "\ndistributed_lock_scanner_waiting_calls 12\n",
		"\ndistributed_lock_scanner_longest_wait_seconds 4.2\n",
		"\ndistributed_lock_scanner_waits_last_success_timestamp_seconds 1.7000000005e+09\n")
	problems, err := testutil.CollectAndLint(exporter.NewWaitCollector(waiting{}))
	must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if _, text := get(newExporter(t, exporter.WithWaits(panickingWaits{})), "/metrics"); len(text) == 0 {
		t.Error("a panic costs the other metrics")
	} else {
		contains(t, text, "distributed_lock_exporter_build_info")
	}
	if _, err := exporter.New(exporter.WithWaits((*nobody)(nil))); !errors.Is(err, exporter.ErrInvalidOption) {
		t.Errorf("nil pointer: %v", err)
	}
}

type nobody struct{ waiting }

// TestFleetIsServed at an address below the page's, and only with a fleet.
func TestFleetIsServed(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("all of them")) })
	e := newExporter(t, exporter.WithFleet(h))
	if status, text := get(e, "/debug/locks/fleet"); status != http.StatusOK || text != "all of them" {
		t.Errorf("%d %s", status, text)
	}
	mux := http.NewServeMux()
	e.Mount(mux)
	if status, _ := get(mux, "/debug/locks/fleet"); status != http.StatusOK {
		t.Errorf("mounted: %d", status)
	}
	_, landing := get(e, "/")
	contains(t, landing, "/debug/locks/fleet")
	if status, _ := get(newExporter(t), "/debug/locks/fleet"); status != http.StatusNotFound {
		t.Errorf("without: %d", status)
	}
}
