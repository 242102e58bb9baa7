package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// logged is the stderr of a serve in this process.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serving runs serve until the test ends.
func serving(t *testing.T, args ...string) (url string, log *logged) {
	t.Helper()
	log = &logged{}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() {
		args := append([]string{"serve", "--web.listen-address", "127.0.0.1:0"}, args...)
		ended <- run(ctx, args, nil, strings.NewReader(""), &bytes.Buffer{}, log)
	}()
	t.Cleanup(func() {
		stop()
		if status := <-ended; status != ui.ExitClean || t.Failed() {
			t.Errorf("serve ended with %d\n%s", status, log)
		}
	})
	cmdtest.Eventually(t, "it serves",
		func() bool { url = cmdtest.URLLogged.FindString(log.String()); return url != "" })
	return url, log
}

// deadlock makes two services wait for one another until it is cancelled.
func deadlock(t *testing.T, orders, stock lock.Locker) (callOff func()) {
	t.Helper()
	a, err := orders.Acquire(t.Context(), "order", lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	b, err := stock.Acquire(t.Context(), "stock", lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	ctx, giveUp := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	wait := func(l lock.Locker, held lock.Lease, next string) {
		within, end := context.WithCancel(held.Context())
		defer context.AfterFunc(ctx, end)()
		if _, err := l.Acquire(within, next); ctx.Err() == nil {
			t.Errorf("the call for %q ended before it was called off: %v; what it held: %v", next, err,
				context.Cause(held.Context()))
		}
	}
	waiting.Go(func() { wait(orders, a, "stock") })
	waiting.Go(func() { wait(stock, b, "order") })
	return sync.OnceFunc(func() { giveUp(); waiting.Wait() })
}

// published writes a lock whose value claims that its holder has a page there.
func published(t *testing.T, servers []*redisproc.Server, key, page string) {
	t.Helper()
	for _, s := range servers {
		cmdtest.Set(t, cmdtest.Admin(t, s), "lock:"+key, strings.TrimSuffix(cmdtest.Ours, "||")+
			"|||orders/charge.go:42|"+
			page, time.Hour)
	}
}

// TestServeShowsTheFleet: a serve that reads pages shows a deadlock of two services, and the reasons why other pages
// cannot be read. It does so with every node up, with one dead, and with one that hangs.
func TestServeShowsTheFleet(t *testing.T) {
	for name, fault := range map[string]func(*redisproc.Server) error{
		"healthy": nil, "one node dead": (*redisproc.Server).Kill, "one node hung": (*redisproc.Server).Pause,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, 3)
			orders, ordersPage := cmdtest.Paged(t, "orders-1", servers)
			stock, stockPage := cmdtest.Paged(t, "stock-2", servers)
			reasons := plantPages(t, servers)
			callOff := deadlock(t, orders, stock)
			defer callOff()
			if fault != nil {
				cmdtest.Must(t, fault(servers[2]))
			}
			url, log := serving(t, "--redis", cmdtest.Addrs(servers...), "--pages", "127.0.0.1", "--waits-every",
				"100ms")
			metric := func(line string) bool {
				_, body := cmdtest.Get(t, url+"/metrics")
				return strings.Contains(body, "\ndistributed_lock_scanner_"+line+"\n")
			}
			cmdtest.Eventually(t, "the deadlock is counted", func() bool {
				return metric("deadlocks 1") && metric("waiting_calls 2")
			})
			if text := log.String(); !strings.Contains(text, "deadlock") ||
				!strings.Contains(text, "orders-1 at serve/fleet_test.go:") {
				t.Errorf("the log does not say who is in the deadlock:\n%s", text)
			}
			var d fleet.Document
			cmdtest.Eventually(t, "the pages are read", func() bool {
				d = fleetOf(t, url)
				return len(callsOf(d, "stock", ordersPage)) == 1 && len(callsOf(d, "order", stockPage)) == 1 &&
					len(d.Deadlocks) == 1
			})
			if known := d.Unknown == ""; known != (fault == nil) {
				t.Errorf("unknown: %q", d.Unknown)
			}
			cmdtest.Eventually(t, "every page was asked", func() bool {
				d = fleetOf(t, url)
				return !slices.ContainsFunc(d.Pages, unasked)
			})
			checkReasons(t, d, reasons)
			cmdtest.Eventually(t, "orders-1 waits for stock-2 on serve's own page",
				func() bool { return waitsForStock(t, url) })
			callOff()
			if name == "one node hung" {
				cmdtest.Must(t, servers[2].Resume()) // each reading waits five seconds for it
			}
			cmdtest.Eventually(t, "the deadlock is over", func() bool {
				return metric("deadlocks 0") && metric("deadlocks_found_total 1")
			})
			if !strings.Contains(log.String(), "deadlock is over") {
				t.Errorf("the log does not say that it is over:\n%s", log)
			}
		})
	}
}

// plantPages puts unreadable addresses on the nodes, and returns the reason expected for each.
func plantPages(t *testing.T, servers []*redisproc.Server) map[string]string {
	t.Helper()
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>"))
	}))
	t.Cleanup(func() { hangs.Close(); garbage.Close() })
	reasons := map[string]string{
		"http://127.0.0.1:1/debug/locks":  "refused",
		hangs.URL + "/debug/locks":        "no answer within",
		garbage.URL + "/debug/locks":      "not from a lockscope page",
		"http://198.51.100.7/debug/locks": "--pages",
	}
	for page := range reasons {
		published(t, servers, "planted:"+strings.ReplaceAll(page, "/", "_"), page)
	}
	return reasons
}

func fleetOf(t *testing.T, url string) (d fleet.Document) {
	t.Helper()
	status, body := cmdtest.Get(t, url+"/debug/locks/fleet")
	if status != http.StatusOK || strings.Contains(body, cmdtest.SecretToken) {
		t.Fatalf("%d %s", status, body)
	}
	cmdtest.Must(t, json.Unmarshal([]byte(body), &d))
	return d
}

// callsOf returns the calls that wait for a resource on this page.
func callsOf(d fleet.Document, resource, page string) (calls []fleet.Call) {
	for _, r := range d.Resources {
		for _, w := range r.Waiters {
			if r.Resource == resource && w.Page == page && w.OnNode && r.Holder != nil {
				calls = append(calls, w.Calls...)
			}
		}
	}
	return calls
}

func checkReasons(t *testing.T, d fleet.Document, reasons map[string]string) {
	t.Helper()
	if len(d.Pages) != len(reasons)+2 {
		t.Errorf("pages %+v", d.Pages)
	}
	for _, p := range d.Pages {
		switch why, planted := reasons[p.Page]; {
		case planted && (p.Read != nil || p.Failing == nil || !strings.Contains(p.Error, why)):
			t.Errorf("%+v, want %q", p, why)
		case !planted && (p.Read == nil || p.Error != "" || p.Instance == ""):
			t.Errorf("%+v", p)
		}
	}
}

// unasked is a page that was not read yet.
func unasked(p fleet.Read) bool { return p.Read == nil && p.Failing == nil }

// waitsForStock returns the waiter of stock on serve's own page. If a node was silent, the holder may be unknown.
func waitsForStock(t *testing.T, url string) bool {
	t.Helper()
	var s state.State
	_, body := cmdtest.Get(t, url+"/debug/locks")
	cmdtest.Must(t, json.Unmarshal([]byte(body), &s))
	return slices.ContainsFunc(s.Waiting, func(w state.Waiter) bool {
		return w.Resource == "stock" && w.Instance == "orders-1" && w.Blocker != nil && w.Blocker.Holder == "stock-2" &&
			w.For > 0
	})
}

// TestServeReadsNoPageByDefault, whatever addresses are published: an attacker may have written them.
func TestServeReadsNoPageByDefault(t *testing.T) {
	asked := make(chan struct{}, 1)
	page := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{} }))
	defer page.Close()
	servers := locktest.Servers(t, 1)
	published(t, servers, "a", page.URL+"/debug/locks")
	url, _ := serving(t, "--redis", cmdtest.Addrs(servers...), "--waits-every", "10ms")
	cmdtest.Eventually(t, "it has looked at who waits", func() bool {
		_, body := cmdtest.Get(t, url+"/metrics")
		return strings.Contains(body, "distributed_lock_scanner_waits_last_success_timestamp_seconds 1")
	})
	_, _ = cmdtest.Get(t, url+"/debug/locks")
	if status, _ := cmdtest.Get(t, url+"/debug/locks/fleet"); status != http.StatusNotFound || len(asked) > 0 {
		t.Errorf("status %d, the page was asked %d times", status, len(asked))
	}
}
