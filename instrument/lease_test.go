package instrument_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestLosses(t *testing.T) { synctest.Test(t, testLosses) }

func testLosses(t *testing.T) {
	newLocker := locktest.NewFakes(t, 3)
	l := wrap(t, newLocker(t))
	lost := func(reason string) float64 {
		return gather(t, l, "lost_total", "resource", "x", "reason", reason)
	}
	lease, err := l.Acquire(t.Context(), "x", lock.TTL(300*time.Millisecond), lock.NoRenew())
	must(t, err)
	if got := gather(t, l, "held", "resource", "x"); got != 1 {
		t.Errorf("held is %v", got)
	}
	eventually(t, "the loss is counted", func() bool { return lost("expired") == 1 })
	if got := gather(t, l, "held", "resource", "x"); got != 0 {
		t.Errorf("held is %v after the loss", got)
	}
	time.Sleep(20 * time.Millisecond)
	if err := lease.Release(t.Context()); err == nil {
		t.Error("a lost lease was released")
	}
	_ = lease.Release(t.Context())
	if got := gather(t, l, "release_failures_total", "resource", "x"); got != 1 {
		t.Errorf("%v release failures", got)
	}
	_, err = l.Acquire(t.Context(), "x", lock.MaxHold(10*time.Millisecond), lock.TTL(300*time.Millisecond))
	must(t, err)
	eventually(t, "the end of the hold is counted", func() bool { return lost("max_hold") == 1 })
	if got := gather(t, l, "hold_seconds", "resource", "x"); got != 2 {
		t.Errorf("%v holds, want 2", got)
	}
}

// TestHeldSince: of the leases in one series the oldest counts, in whichever order they end.
func TestHeldSince(t *testing.T) { synctest.Test(t, testHeldSince) }

func testHeldSince(t *testing.T) {
	l := wrap(t, locktest.NewFakes(t, 3)(t))
	since := func() float64 {
		return gather(t, l, "held_since_timestamp_seconds", "resource", "order:*")
	}
	var leases []lock.Lease
	var acquired []float64
	for i := range 4 {
		time.Sleep(time.Second)
		lease, err := l.Acquire(t.Context(), fmt.Sprint("order:", i))
		must(t, err)
		leases, acquired = append(leases, lease), append(acquired, float64(time.Now().UnixMicro())/1e6)
	}
	for _, step := range []struct {
		release int
		left    float64
	}{{1, acquired[0]}, {0, acquired[2]}, {3, acquired[2]}, {2, 0}} {
		must(t, leases[step.release].Release(t.Context()))
		if got := since(); math.Abs(got-step.left) > .5 {
			t.Errorf("without lease %d held since %.3f, want %.3f", step.release, got, step.left)
		}
	}
	lease, err := l.Acquire(t.Context(), "order:9")
	must(t, err)
	if got, now := since(), float64(time.Now().Unix()); math.Abs(got-now) > 1.5 {
		t.Errorf("held since %.3f, want %.3f", got, now)
	}
	must(t, lease.Release(t.Context()))
}

// TestLossByFailure pauses nodes during one lease, and takes the lock away during another.
func TestLossByFailure(t *testing.T) { synctest.Test(t, testLossByFailure) }

func testLossByFailure(t *testing.T) {
	var servers []*locktest.FakeServer
	var nodes []driver.Node
	for i := range 3 {
		s := locktest.NewFakeServer(fmt.Sprint("node", i))
		t.Cleanup(s.Close)
		servers, nodes = append(servers, s), append(nodes, engine.Async(s.Connect(uint64(i), locktest.Faults{})))
	}
	began := time.Now()
	r, err := engine.NewEngine(nodes, engine.WithClock(func() time.Duration { return time.Since(began) })) // the bubble's
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	l := wrap(t, r)
	lost := func(resource, reason string) bool {
		return gather(t, l, "lost_total", "resource", resource, "reason", reason) == 1
	}

	lease, err := l.Acquire(t.Context(), "x", lock.TTL(time.Second))
	must(t, err)
	servers[0].Pause()
	servers[1].Pause()
	eventually(t, "lost by failed renewals", func() bool { return lost("x", "extend_failed") })
	if gather(t, l, "extensions_total", "resource", "x", "outcome", "error") == 0 {
		t.Error("no failed extension")
	}
	if gather(t, l, "node_failures_total", "lock_node", "node0", "backend", "redis", "operation", "extend", "reason",
		"timeout") == 0 {
		t.Error("no timeout of node0")
	}
	_, _ = l.Acquire(t.Context(), "z", lock.MaxWait(3*time.Second)) // single failures do not make a node down
	if up := gather(t, l, "node_up", "lock_node", "node0", "backend", "redis"); up != 0 {
		t.Errorf("node0 is up: %v", up)
	}
	servers[0].Resume()
	servers[1].Resume()
	_ = lease.Release(t.Context())

	_, err = l.Acquire(t.Context(), "y", lock.TTL(2*time.Second))
	must(t, err)
	for _, s := range servers {
		s.Crash()
		s.RestartEmpty(0)
	}
	eventually(t, "lost because the nodes forgot it", func() bool { return lost("y", "taken_over") })
	eventually(t, "the round is counted", func() bool {
		return gather(t, l, "extensions_total", "resource", "y", "outcome", "lost") == 1
	})
}

// TestARenewalThatAReleaseOvertakesIsNotLost: the round is counted, as neither good nor bad, and no span of it fails.
func TestARenewalThatAReleaseOvertakesIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		next, err := memlock.New(nodes, engine.WithRandom(func(int64) int64 { return 0 })) // the latest renewal
		must(t, err)
		t.Cleanup(func() { must(t, next.Close()) })
		seen := &spans{}
		l := wrap(t, next, instrument.WithTracerProvider(seen.provider()))
		lease, err := l.Acquire(t.Context(), "x", lock.TTL(9*time.Second))
		must(t, err)
		for _, n := range nodes {
			n.Delay(100 * time.Millisecond)
		}
		time.Sleep(3*time.Second + 10*time.Millisecond) // the round of renewal, due by now, is under way
		must(t, lease.Release(t.Context()))
		synctest.Wait()
		for outcome, want := range map[string]float64{"ok": 0, "lost": 0, "error": 0, "overtaken": 1} {
			if got := gather(t, l, "extensions_total", "resource", "x", "outcome", outcome); got != want {
				t.Errorf("%v rounds were %s, want %v", got, outcome, want)
			}
		}
		for _, span := range seen.named("lock.extend") {
			if span.status != codes.Unset {
				t.Errorf("the span of the round has status %v", span.status)
			}
		}
		if len(seen.named("lock.extend")) != 1+len(nodes) {
			t.Error("no span of the round, or of a node")
		}
	})
}
