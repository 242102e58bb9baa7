package scanner_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestSlotOnTheMove leaves a slot half-way between two masters: its keys need ASK.
func TestSlotOnTheMove(t *testing.T) {
	t.Parallel()
	cl := locktest.Cluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cl.Addrs()})
	defer c.Close()
	ctx := within(t)
	var want []string
	for i := range 60 {
		must(t, c.Set(ctx, fmt.Sprint("lock:", i), "1", 0).Err())
		want = append(want, fmt.Sprint("no_ttl lock:", i))
	}
	const moving = "lock:moving"
	slot := c.ClusterKeySlot(ctx, moving).Val()
	from, err := c.MasterForKey(ctx, moving)
	must(t, err)
	var to *redis.Client
	for _, addr := range cl.Addrs() {
		if addr != from.Options().Addr {
			to = redis.NewClient(&redis.Options{Addr: addr})
			defer to.Close()
			break
		}
	}
	must(t, to.Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", from.Do(ctx, "CLUSTER", "MYID").Val()).Err())
	must(t, from.Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", to.Do(ctx, "CLUSTER", "MYID").Val()).Err())
	pipe := to.Pipeline()
	pipe.Do(ctx, "ASKING")
	pipe.Set(ctx, moving, "1", 0)
	_, err = pipe.Exec(ctx)
	must(t, err)

	s := newScanner(t, []redis.UniversalClient{c}, scanner.WithPageSize(7))
	r := sweep(t, s)
	want = append(want, "no_ttl "+moving)
	wantFindings(t, "on the move", r.Findings, want...)
	if n := reportOf(t, r, to.Options().Addr); n.Path != report.PathPipeline {
		t.Errorf("the receiving master was read by %s", n.Path)
	}

	must(t, to.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.Do(ctx, "CLUSTER", "MYID").Val()).Err())
	must(t, from.Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", to.Do(ctx, "CLUSTER", "MYID").Val()).Err())
	eventually(t, "the slot has moved", func() bool {
		r = sweep(t, s)
		return len(r.Findings) == len(want) && reportOf(t, r, to.Options().Addr).Path == report.PathScript
	})
}

// serverAt returns the server of a cluster with that address.
func serverAt(t testing.TB, cl *redisproc.Cluster, addr string) *redisproc.Server {
	t.Helper()
	for _, s := range cl.Servers() {
		if s.Addr() == addr {
			return s
		}
	}
	t.Fatalf("no server at %s", addr)
	return nil
}
