// Package compare measures locks beside other locks: what a pair of Acquire and Release takes, and what hand-overs between
// processes do. A driver calls it in its benchmarks.
package compare

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Pair acquires the lock of a resource, calls work, and releases the lock.
type Pair func(resource string, work func()) error

// Peer is a lock implementation to compare with others.
type Peer struct {
	Name string
	// Client makes a client for the servers' addresses. The client ends with the benchmark.
	Client func(b *testing.B, servers []string) Pair
}

// Pairs reports, for each peer, the median time of an uncontended pair and its ratio to the first
// peer's. The peers take turns, so that all see the same conditions.
func Pairs(b *testing.B, servers []string, peers []Peer) {
	b.Helper()
	clients := make([]Pair, len(peers))
	took := make([][]time.Duration, len(peers))
	for i, p := range peers {
		clients[i] = p.Client(b, servers)
		if err := clients[i]("job", func() {}); err != nil { // it connects
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for i, do := range clients {
			began := time.Now()
			if err := do("job", func() {}); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(began))
		}
	}
	var floor float64
	for i, p := range peers {
		slices.Sort(took[i])
		median := float64(took[i][len(took[i])/2].Microseconds())
		b.ReportMetric(median, "us-"+p.Name)
		if i == 0 {
			floor = median
		} else {
			b.ReportMetric(median/floor, "x-"+p.Name)
		}
	}
}

// HandOffs lets two, then eight processes acquire one lock as often as they can for five seconds, for
// each peer. The processes run this program's benchmark named client, which must call [Contender].
func HandOffs(b *testing.B, client string, servers []string, peers []Peer) {
	b.Helper()
	for _, n := range []int{2, 8} {
		for _, p := range peers {
			b.Run(fmt.Sprint(n, " processes/", p.Name), func(b *testing.B) {
				var seen result
				for b.Loop() {
					seen = contend(b, client, n, task{p.Name, servers, 5 * time.Second})
				}
				seen.report(b)
			})
		}
	}
}
