package locktest

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Pair takes the lock of a resource, works, and gives it back, as one client does.
type Pair func(resource string, work func()) error

// Peer is a lock that is measured beside others.
type Peer struct {
	Name string
	// Client makes a client, which ends with the benchmark, from where the servers are.
	Client func(b *testing.B, servers []string) Pair
}

// ComparePairs reports the median of the time that a pair takes that nobody contends for,
// of each peer. They take turns, so that all meet the same machine. The ratios are to the
// first.
func ComparePairs(b *testing.B, servers []string, peers []Peer) {
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

// CompareHandOffs has two and eight processes take one lock as often as they can, for five
// seconds, for each peer. Clients are this program's benchmark of that name: it is to call
// [Contender].
func CompareHandOffs(b *testing.B, client string, servers []string, peers []Peer) {
	b.Helper()
	for _, n := range []int{2, 8} {
		for _, p := range peers {
			b.Run(fmt.Sprint(n, " processes/", p.Name), func(b *testing.B) {
				var seen Contention
				for b.Loop() {
					seen = contend(b, client, n, task{p.Name, servers, 5 * time.Second})
				}
				seen.Report(b)
			})
		}
	}
}
