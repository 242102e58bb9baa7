package top

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// services are processes that take locks on the same nodes until the test ends.
type services struct {
	t       *testing.T
	servers []*redisproc.Server
	ctx     context.Context
	calls   sync.WaitGroup
}

func newServices(t *testing.T, servers []*redisproc.Server) *services {
	f := &services{t: t, servers: servers}
	var giveUp context.CancelFunc
	f.ctx, giveUp = context.WithCancel(t.Context())
	t.Cleanup(func() {
		giveUp()
		f.calls.Wait()
	})
	return f
}

func (f *services) process(name string) *engine.Engine {
	f.t.Helper()
	return cmdtest.LockingProcess(f.t, name, f.servers)
}

// hold takes a lock and keeps it.
func (f *services) hold(p *engine.Engine, resource string) lock.Lease {
	f.t.Helper()
	l, err := p.Acquire(f.t.Context(), resource, lock.TTL(time.Minute))
	cmdtest.Must(f.t, err)
	return l
}

// wait waits for a lock, with the lease on another one in its context if there is any.
func (f *services) wait(p *engine.Engine, resource string, holds lock.Lease) {
	ctx, end := context.WithCancel(f.ctx)
	if holds != nil {
		ctx, end = context.WithCancel(holds.Context())
		context.AfterFunc(f.ctx, end)
	}
	f.calls.Go(func() {
		defer end()
		l, err := p.Acquire(ctx, resource, lock.TTL(time.Minute))
		if err == nil {
			_ = l.Release(context.WithoutCancel(ctx))
		}
	})
}

// chain is the usual scene: three calls wait for order, whose holder waits for stock, which stock-2 holds.
func (f *services) chain() {
	orders, stock, truck, billing := f.process("orders-1"), f.process("stock-2"), f.process("truck-3"),
		f.process("billing-4")
	order := f.hold(orders, "order:1001")
	f.hold(stock, "stock:7")
	f.wait(orders, "stock:7", order)
	f.wait(truck, "order:1001", nil)
	f.wait(truck, "order:1001", nil)
	f.wait(billing, "order:1001", nil)
}

func clusterClient(t *testing.T, addr string) *redis.ClusterClient {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}})
	t.Cleanup(func() { cmdtest.Must(t, c.Close()) })
	return c
}

// plantQueue is a queue of one process that has no record, and has waited for a minute.
func plantQueue(t *testing.T, c redis.Cmdable, key string) {
	t.Helper()
	since := time.Now().Add(-time.Minute)
	cmdtest.Must(t, c.ZAdd(t.Context(), stored.QueueKey(key), redis.Z{Score: float64(since.UnixMicro()), Member: "w"}).Err())
}
