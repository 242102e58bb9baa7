package exporter_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestNotReadyInQuarantine: three new nodes answer, and nobody can get a lock on them until somebody vouches for them.
func TestNotReadyInQuarantine(t *testing.T) {
	var clients []redis.UniversalClient
	for _, s := range locktest.Servers(t, 3) {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		clients = append(clients, c)
	}
	l, err := redlock.New(clients, lock.WithNodeTimeout(2*time.Second)) // an answer that is late leaves a tombstone: not new
	must(t, err)
	defer l.Close()
	e := newExporter(t, exporter.WithOwnServer(), exporter.WithReadyCheck("locks", exporter.LockCheck(l, "ready:me")))
	code, text := get(e, "/readyz")
	if code != http.StatusServiceUnavailable || !strings.Contains(text, "locks: ") ||
		!strings.Contains(text, "may not vote yet") {
		t.Errorf("in quarantine: %d %s", code, text)
	}
	must(t, redlock.Vouch(t.Context(), clients))
	await(t, "it is ready", func() bool { code, _ := get(e, "/readyz"); return code == http.StatusOK })
}

// TestReadyWithALeftover: a held lock proves that nodes vote.
func TestReadyWithALeftover(t *testing.T) {
	l, err := memlock.New(memlock.NewNodes(3))
	must(t, err)
	defer l.Close()
	leftover, err := l.Acquire(t.Context(), "ready:me")
	must(t, err)
	must(t, exporter.LockCheck(l, "ready:me")(t.Context()))
	must(t, leftover.Release(t.Context()))
}

// TestUnits: metrics in seconds have a UNIT line in OpenMetrics.
func TestUnits(t *testing.T) {
	l, err := memlock.New(memlock.NewNodes(1))
	must(t, err)
	defer l.Close()
	measured, err := instrument.Wrap(l)
	must(t, err)
	lease, err := measured.Acquire(t.Context(), "job", lock.NoRenew())
	must(t, err)
	must(t, lease.Release(t.Context()))
	registry := prometheus.NewRegistry()
	registry.MustRegister(measured)
	e := newExporter(t, exporter.WithGatherer(registry), exporter.WithScanner(oneNode()))
	_, text := get(e, "/metrics", "Accept: application/openmetrics-text; version=1.0.0")
	for _, name := range []string{
		"wait_seconds", "hold_seconds", "validity_seconds", "node_duration_seconds",
		"scanner_oldest_leak_seconds", "scanner_last_success_timestamp_seconds", "scanner_pass_duration_seconds",
	} {
		contains(t, text, fmt.Sprintf("# UNIT distributed_lock_%s seconds\n", name))
	}
}
