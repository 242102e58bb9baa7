//go:build linux

package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/wallclock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// TestOpenStepBeforeAQuarantineEnds says why the campaign steps a clock only as its node falls silent. A node that
// restarted with its data grants nothing, but it still extends what it has: stepped when its quarantine has less to go
// than a lease can live, it forgets one that counts on it, and votes again while that is valid.
func TestOpenStepBeforeAQuarantineEnds(t *testing.T) {
	t.Parallel()
	const ttl = 10 * time.Second
	shim, err := wallclock.Build(t.TempDir())
	must(t, err)
	clock, err := shim.New("a")
	must(t, err)
	t.Cleanup(func() { must(t, clock.Close()) })
	server, a := started(t, redisproc.WithEnv(clock.Env()...),
		redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always"))
	_, b := started(t)
	_, c := started(t)

	names := lock.WithNodeNames("a", "b", "c")
	all := []redis.UniversalClient{a, b, c}
	must(t, redlock.Vouch(t.Context(), all, names, lock.WithMaxTTL(ttl)))
	// The holder reaches a and b only: c is where nobody listens.
	away := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	t.Cleanup(func() { _ = away.Close() })
	holders := opened(t, []redis.UniversalClient{a, b, away}, names, lock.WithMaxTTL(ttl))
	held, err := holders.Acquire(t.Context(), "job", lock.TTL(ttl), lock.NoRenew())
	must(t, err)
	must(t, server.Restart(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask(ctx, t, opened(t, all, names, lock.WithMaxTTL(ttl))) // the quarantine begins
	letPass(ctx, t, a, redlock.Quarantine(ttl)-time.Second)
	for held.Extend(ctx) != nil && held.Remaining() > 0 {
		time.Sleep(10 * time.Millisecond) // its connection to a is made anew
	}
	clock.Step(ttl + time.Second)
	others := opened(t, all, names, lock.WithMaxTTL(ttl))
	for {
		other, err := others.Acquire(ctx, "job", lock.NoWait())
		if err == nil {
			t.Logf("a lease of %v beside one of %v", other.Remaining(), held.Remaining())
			if other.Remaining() <= 0 || held.Remaining() <= 0 {
				t.Error("they are not valid at one time: the promise may say more than it does")
			}
			must(t, other.Release(ctx))
			return
		}
		if held.Remaining() <= 0 {
			t.Fatalf("nobody else got it while it was valid: the promise may say more than it does; the last error: %v",
				err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func ask(ctx context.Context, t *testing.T, l *engine.Engine) {
	t.Helper()
	if lease, err := l.Acquire(ctx, "question", lock.NoWait()); err == nil {
		must(t, lease.Release(ctx))
	}
}

// letPass makes it so that the quarantine of a node, which has begun, began earlier, by both clocks.
func letPass(ctx context.Context, t *testing.T, node *redis.Client, d time.Duration) {
	t.Helper()
	for {
		text := node.Get(ctx, guard.MarkerKey).Val()
		m, _ := guard.ParseMarker(text)
		if m.State == guard.Quarantined && m.Caller.UnixMilli() > 0 {
			fields := strings.Split(text, "|")
			fields[6] = fmt.Sprint(m.Node.Add(-d).UnixMilli())
			fields[7] = fmt.Sprint(m.Caller.Add(-d).UnixMilli())
			must(t, node.Set(ctx, guard.MarkerKey, strings.Join(fields, "|"), 0).Err())
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("the quarantine does not begin: %q", text)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func started(t *testing.T, opts ...redisproc.Option) (*redisproc.Server, *redis.Client) {
	t.Helper()
	server, err := redisproc.Start(t.Context(), opts...)
	must(t, err)
	t.Cleanup(func() { must(t, server.Stop()) })
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { must(t, client.Close()) })
	return server, client
}

func opened(t *testing.T, nodes []redis.UniversalClient, opts ...lock.Option) *engine.Engine {
	t.Helper()
	engine, err := redlock.New(nodes, opts...)
	must(t, err)
	t.Cleanup(func() { must(t, engine.Close()) })
	return engine
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
