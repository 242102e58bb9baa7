package instrument_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/codes"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// outages lists the faults that a set of three tolerates.
var outages = []struct {
	name string
	fail func(*redisproc.Server) error
	heal func(*redisproc.Server) error
}{
	{"healthy", nil, nil},
	{"one node dead", (*redisproc.Server).Kill, nil},
	{"one node hung", (*redisproc.Server).Pause, (*redisproc.Server).Resume},
}

// eachOutage runs a test on three servers once per outage. "billing/7" holds the lock "job" on all of them when the
// outage begins.
func eachOutage(t *testing.T, test func(t *testing.T, servers []*redisproc.Server, holder lock.Lease)) {
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			servers := locktest.Servers(t, 3)
			holder, err := onRedis(t, addrs(servers), lock.WithInstance("billing/7")).Acquire(t.Context(), "job")
			must(t, err)
			for _, s := range servers { // the holder needs only a quorum
				client := redis.NewClient(&redis.Options{Addr: s.Addr()})
				t.Cleanup(func() { must(t, client.Close()) })
				eventually(t, "it is on every node", func() bool {
					must(t, holder.Extend(t.Context()))
					return client.Exists(t.Context(), "lock:job").Val() == 1
				})
			}
			if o.fail != nil {
				must(t, o.fail(servers[0]))
			}
			if o.heal != nil {
				t.Cleanup(func() { must(t, o.heal(servers[0])) })
			}
			test(t, servers, holder)
		})
	}
}

// TestContentionInAnOutage: while a tolerated minority does not answer, the holder is what keeps callers out. Metrics,
// spans and logs name the holder.
func TestContentionInAnOutage(t *testing.T) { eachOutage(t, testContentionInAnOutage) }

func testContentionInAnOutage(t *testing.T, servers []*redisproc.Server, _ lock.Lease) {
	const calls = 100
	s, text := new(spans), new(logText)
	l := wrap(t, onRedis(t, addrs(servers)), instrument.WithTracerProvider(s.provider()),
		instrument.WithLogger(text.logger()))
	for range calls {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		if held, ok := errors.AsType[*lock.HeldError](err); !ok || held.Holder.Instance != "billing/7" {
			t.Fatalf("%v, want who holds it", err)
		}
	}
	must(t, l.Flush(t.Context()))
	if got := gather(t, l, "acquisitions_total", "resource", "job", "outcome", "contended"); got != calls {
		t.Errorf("%v contended, want %v", got, calls)
	}
	for name, want := range map[string]float64{"failures_total": 0, "wait_seconds": calls, "attempts_total": calls} {
		if got := gather(t, l, name, "resource", "job"); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, span := range s.named("lock.acquire") {
		wantAttrs(t, span, "distributed_lock.outcome=contended", "distributed_lock.blocker.instance=billing/7")
		if span.status != codes.Unset {
			t.Errorf("a miss has status %v", span.status)
		}
	}
	if log := text.String(); log != "" {
		t.Errorf("logged: %s", log)
	}
}

// TestWaitsInAnOutage: a wait takes no extra attempts and is for the holder.
func TestWaitsInAnOutage(t *testing.T) { eachOutage(t, testWaitsInAnOutage) }

func testWaitsInAnOutage(t *testing.T, servers []*redisproc.Server, holder lock.Lease) {
	const waits = 10
	holding := onRedis(t, addrs(servers), lock.WithInstance("billing/7"))
	l := wrap(t, onRedis(t, addrs(servers)), instrument.WithLongWait(100*time.Millisecond))
	for i := range waits {
		if i > 0 {
			var err error
			holder, err = holding.Acquire(t.Context(), "job")
			must(t, err)
		}
		done := make(chan error, 1)
		go func() {
			done <- lock.Do(t.Context(), l, "job", func(context.Context, lock.Lease) error { return nil })
		}()
		eventually(t, "it waits", func() bool {
			return gather(t, l, "long_waits_total", "resource", "job") == float64(i+
				1)
		})
		must(t, holder.Release(t.Context()))
		must(t, <-done)
	}
	if got := gather(t, l, "attempts_total", "resource", "job"); got > 4*waits {
		t.Errorf("%v attempts in %d waits", got, waits)
	}
	if got := gather(t, l, "failures_total", "resource", "job"); got != 0 {
		t.Errorf("%v failures", got)
	}
}

// TestCommandsInAnOutageAreCounted: the share of failed commands of a node, as rules compute it, is of the commands
// sent. A dead node has only failures, and no duration.
func TestCommandsInAnOutageAreCounted(t *testing.T) { eachOutage(t, testCommandsInAnOutageAreCounted) }

func testCommandsInAnOutageAreCounted(t *testing.T, servers []*redisproc.Server, _ lock.Lease) {
	var ended atomic.Int64
	ctx := locktrace.With(t.Context(), &locktrace.Trace{NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
		if e.Op == lock.OpAcquire && e.Node == servers[0].Addr() && !errors.Is(e.Err, context.Canceled) {
			ended.Add(1)
		}
	}})
	l := wrap(t, onRedis(t, addrs(servers)))
	for range 50 {
		if _, err := l.Acquire(ctx, "job", lock.NoWait()); !errors.Is(err, lock.ErrHeld) && !errors.Is(err, lock.ErrNoQuorum) {
			t.Fatal(err) // on a busy machine a quorum may not answer in time
		}
	}
	of := []string{"lock_node", servers[0].Addr(), "backend", "redis", "operation", "acquire"}
	eventually(t, "each command has a duration, or was not sent", func() bool {
		commands := gather(t, l, "node_duration_seconds", of...)
		for _, unsent := range []string{"refused", "dial", "busy", "guard"} {
			commands += gather(t, l, "node_failures_total", append(of, "reason", unsent)...)
		}
		return commands == float64(ended.Load()) &&
			commands > 0 // the others were given up; how many depends on how busy the machine is
	})
}
