package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestTraceOnRedis has two processes and a third one contend on real servers: one lease is lost, and one node hangs.
func TestTraceOnRedis(t *testing.T) {
	servers := locktest.Servers(t, 3)
	board := newBoard(t)
	open := func(instance string) lock.Locker {
		return wrap(t, board, onRedis(t, servers, lock.WithInstance(instance), lock.WithCallSites(),
			lock.WithNodeTimeout(200*time.Millisecond), lock.WithNodeNames("a", "b", "c")),
			live.WithLockerInstance(instance))
	}
	orders, stock := open("orders/1"), open("stock/2")
	billing := onRedis(t, servers, lock.WithInstance("billing/7"))
	waitsFor := func(holder string) {
		eventually(t, "somebody waits for "+holder, func() bool {
			w := stateOf(board).Waiting
			return len(w) == 1 && w[0].Kind == "holder" && w[0].Blocker != nil && w[0].Blocker.Holder == holder
		})
	}

	first := acquire(t, billing, "job")
	second := acquireAsync(t.Context(), orders, "job", lock.NoRenew(), lock.TTL(time.Second))
	waitsFor("billing/7")
	must(t, first.Release(t.Context()))
	got := <-second
	must(t, got.err)
	third := acquireAsync(t.Context(), stock, "job")
	waitsFor("orders/1")
	must(t, servers[2].Pause())
	last := <-third // once the lease of orders has run out
	must(t, last.err)
	if got.lease.Release(t.Context()) == nil {
		t.Error("a lease that was lost is released")
	}
	eventually(t, "the hung node has not answered in time", func() bool {
		return len(traceOf(t, board, "job", "").of("vote", "acquire: failed")) > 0
	})
	must(t, servers[2].Resume())
	must(t, last.lease.Release(t.Context()))

	tr := traceOf(t, board, "job", "")
	var leases []string
	for _, e := range tr.of("lease", "holds") {
		leases = append(leases, strings.TrimPrefix(tr.process[e.Pid], "job (redis): ")+" "+arg(e, "ended"))
		if site := arg(e, "call_site"); e.Args["known_from"] == nil && !strings.Contains(site, "helpers_test.go:") {
			t.Errorf("call site %q", site)
		}
	}
	if want := "billing/7 ,orders/1 lost,stock/2 released"; strings.Join(leases, ",") != want {
		t.Errorf("leases %q, want %q", leases, want)
	}
	arrows := tr.arrows()
	if len(arrows) != 2 || !strings.HasSuffix(arrows[0].from, "billing/7") ||
		!strings.HasSuffix(arrows[1].to, "stock/2") ||
		arrows[1].how != "the lease before ended without a release and ran out" {
		t.Errorf("arrows: %+v", arrows)
	}
	for _, e := range tr.of("vote", "acquire: failed") {
		if tr.thread[e.Tid][:1] != "c" || e.Took < int64(20*time.Millisecond) || arg(e, "error") == "" {
			t.Errorf("failed on %q after %v: %v", tr.thread[e.Tid], time.Duration(e.Took), e.Args)
		}
	}
}

// TestTraceOfACrowd is bounded: 1,000 callers wait, and some of them have given up.
func TestTraceOfACrowd(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		board, l := process(t, newServers(t, 3), "orders/1")
		var leases []lock.Lease
		for i := range 40 {
			leases = append(leases, acquire(t, l, resourceName(i)))
			_, _ = l.Acquire(t.Context(), resourceName(i), lock.MaxWait(10*time.Millisecond))
		}
		held := acquire(t, l, "job")
		settle(11 * time.Second) // then the place of another resource is free
		disperse := crowd(t, 1000, l)
		settle(time.Minute)
		tr := traceOf(t, board, "job", "")
		if n := len(tr.of("call", "acquire (unfinished)")); n != 100 || tr.OtherData["unfinished_calls_omitted"] != "900" {
			t.Errorf("%d of 1,000 are drawn; %v", n, tr.OtherData)
		}
		if len(tr.data) > 1<<20 {
			t.Errorf("it has %d bytes", len(tr.data))
		}
		disperse()
		settle(time.Second)
		tr = traceOf(t, board, "job", "")
		if n := len(tr.of("call", "acquire: canceled")); n != 1000 {
			t.Errorf("%d calls have given up", n)
		}
		all := traceOf(t, board, "", "")
		if n := len(all.Events); n > 60_000 || len(all.data) > 16<<20 {
			t.Errorf("all: %d events, %d bytes", n, len(all.data))
		}
		must(t, held.Release(t.Context()))
		for _, lease := range leases {
			must(t, lease.Release(t.Context()))
		}
	})
}

// TestTraceOfHostileNames: names come from anybody who can write to Redis, and tokens stay out.
func TestTraceOfHostileNames(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		servers := newServers(t, 3)
		for i, hostile := range []string{
			`</script><script>alert(1)</script>`, `"],"ph":"X`, "\u200b\u00a0\\", strings.Repeat("é", 200),
		} {
			resource := fmt.Sprintf("%d:%s", i, hostile)
			board := newBoard(t, live.WithInstance(hostile))
			l := wrap(t, board, newRedlock(t, servers, hostile), live.WithLockerInstance(hostile))
			first := acquire(t, newRedlock(t, servers, "other "+hostile), resource)
			next := acquireAsync(t.Context(), l, resource)
			settle(time.Second)
			must(t, first.Release(t.Context()))
			got := <-next
			must(t, got.err)
			tr := traceOf(t, board, resource, "")
			var found int
			for _, name := range tr.process {
				if strings.HasPrefix(name, resource+" (redis): ") {
					found++
				}
			}
			if found != 3 || strings.Contains(string(tr.data), "<script") {
				t.Errorf("%q: processes %v", hostile, tr.process)
			}
			must(t, got.lease.Release(t.Context()))
		}
	})
}
