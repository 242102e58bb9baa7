package fleet_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/listing"
)

// Each process of a bench waits for so many of so many resources, one call each.
const benchWaits, benchResources = 50, 200

// BenchmarkMerge combines the pages of many processes with what the nodes report, and encodes the result: what one
// request for the fleet page costs. A Reader keeps at most MaxPages; merge has them all, to see what more would cost.
func BenchmarkMerge(b *testing.B) {
	for _, processes := range []int{10, 100, fleet.MaxPages, 1_000} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			now := time.Now()
			pages, waits := benchFleet(processes, now)
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				text, err := json.Marshal(fleet.Merge([]fleet.Set{{Waits: waits}}, pages, now))
				if err != nil {
					b.Fatal(err)
				}
				size = len(text)
			}
			b.ReportMetric(float64(size), "B/document")
		})
	}
}

// benchFleet has pages by address, as a Reader has them, and the queues of all resources. The nodes name the first
// eight of each queue.
func benchFleet(processes int, now time.Time) ([]fleet.Page, *listing.Waits) {
	const named = 8
	waits := &listing.Waits{Graph: waitgraph.New(), At: now}
	for r := range benchResources {
		waits.Locks = append(waits.Locks, listing.WaitedFor{Resource: benchResource(r), At: now})
	}
	var pages []fleet.Page
	for i := range processes {
		p := fleet.Page{URL: fmt.Sprintf("http://10.0.%03d.%03d:9090/debug/locks", i/250, i%250),
			Instance: fmt.Sprintf("orders-%04d/1", i), Read: now}
		for w := range benchWaits {
			at := (i*benchWaits + w) % benchResources
			p.Calls = append(p.Calls, fleet.Call{Resource: benchResource(at), Backend: "redis",
				CallSite: "orders/charge.go:118", For: 1.5})
			p.Counts = append(p.Counts, fleet.Count{Resource: benchResource(at), Backend: "redis", Waiting: 1})
			f := &waits.Locks[at]
			f.Processes++
			if len(f.Queue) < named {
				f.Queue = append(f.Queue, stored.Queued{ID: p.URL, Since: now.Add(-time.Second), Says: &records.Waiting{
					Holder: lock.Holder{Instance: p.Instance, Page: p.URL}, Callers: 1, Backend: "redis",
				}})
			}
		}
		pages = append(pages, p)
	}
	return pages, waits
}

func benchResource(i int) string { return fmt.Sprintf("order:%04d", i) }

// BenchmarkRead reads the pages of many processes once, each a server on loopback. A Reader reads
// at most MaxPages of them.
func BenchmarkRead(b *testing.B) {
	for _, processes := range []int{10, 100, 1_000} {
		b.Run(fmt.Sprintf("processes=%d", processes), func(b *testing.B) {
			body := benchPage()
			var urls []string
			for range processes {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write(body)
				}))
				defer s.Close()
				urls = append(urls, s.URL+"/debug/locks")
			}
			policy, err := fleet.ParsePolicy("127.0.0.1")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			read, omitted := 0, 0
			for b.Loop() {
				r := fleet.NewReader(policy)
				r.Read(b.Context(), urls)
				pages, left := r.Pages()
				read, omitted = 0, left
				for _, p := range pages {
					if p.Err == nil && !p.Read.IsZero() {
						read++
					}
				}
			}
			b.ReportMetric(float64(read), "pages-read")
			b.ReportMetric(float64(omitted), "pages-omitted")
			b.ReportMetric(float64(len(body)), "B/page")
		})
	}
}

// benchPage is a page with so many waiting calls.
func benchPage() []byte {
	var all []fleet.Call
	for i := range benchWaits {
		all = append(all, fleet.Call{Resource: benchResource(i), Backend: "redis", Instance: "orders-0001/1", For: 1.5,
			Kind: "queued", CallSite: "orders/charge.go:118"})
	}
	text, err := json.Marshal(map[string]any{"schema": 1, "instance": "orders-0001/1", "waiting": all})
	if err != nil {
		panic(err)
	}
	return text
}
