package exporter_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// TestRealScanner plants a leak on a real Redis. After a sweep that failed on a missing node, it reads the leak from
// /metrics and from /debug/locks.
func TestRealScanner(t *testing.T) {
	servers := locktest.Servers(t, 2)
	client := redis.NewClient(&redis.Options{Addr: servers[0].Addr()})
	defer client.Close()
	must(t, client.Set(t.Context(), "lock:leak", "somebody", 0).Err())
	must(t, client.Set(t.Context(), "lock:fine", "somebody", time.Minute).Err())
	s, err := scanner.Open([]string{"redis://" + servers[0].Addr(), "redis://" + servers[1].Addr()},
		scanner.WithNodeNames("a", "b"), scanner.WithConfirmAfter(time.Millisecond))
	must(t, err)
	defer s.Close()
	e := newExporter(t, exporter.WithScanner(s, exporter.WithLeakedLockInfo(3)))
	must(t, servers[1].Stop())
	await(t, "the leak is confirmed", func() bool {
		_, _ = s.Sweep(t.Context()) // node b fails each time
		return slices.ContainsFunc(s.Snapshot().Nodes, func(n scanner.NodeTotals) bool { return n.Leaked == 1 })
	})
	_, text := get(e, "/metrics")
	contains(t, text,
		`distributed_lock_scanner_up{group="",lock_node="a"} 1`,
		`distributed_lock_scanner_up{group="",lock_node="b"} 0`,
		`distributed_lock_scanner_leaked_locks{lock_node="a"} 1`,
		`distributed_lock_scanner_findings{class="no_ttl",lock_node="a"} 1`,
		`distributed_lock_scanner_leaked_lock_info{key="lock:leak",lock_node="a"} 1`,
		`distributed_lock_scanner_last_success_timestamp_seconds{lock_node="b"} 0`)
	families, err := expfmtParse(text)
	must(t, err)
	var bounds []float64
	for _, b := range families["distributed_lock_scanner_pass_duration_seconds"].Metric[0].Histogram.Bucket {
		bounds = append(bounds, b.GetUpperBound())
	}
	// oneNode, with which the catalogue is checked, must equal a real scanner's snapshot.
	if want := "[0.01 0.1 0.5 1 5 15 60 300 +Inf]"; fmt.Sprint(bounds) != want {
		t.Errorf("buckets are %v, want %s", bounds, want)
	}
	_, page := get(e, "/debug/locks?format=json")
	contains(t, page, `"no_ttl"`, `"lock:leak"`)
}
