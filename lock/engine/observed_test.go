package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// observed is a set of nodes on servers in memory that records the requests it gets.
type observed struct {
	t       *testing.T
	servers []*locktest.FakeServer
	engine  *engine.Engine

	beforeRaise func() // may be nil

	mu       sync.Mutex
	acquires []driver.AcquireRequest // requests sent, to any server
}

type observedNode struct {
	driver.BlockingNode
	o *observed
}

func (n observedNode) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	n.o.mu.Lock()
	n.o.acquires = append(n.o.acquires, req)
	n.o.mu.Unlock()
	return n.BlockingNode.Acquire(ctx, req)
}

func (n observedNode) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	if n.o.beforeRaise != nil {
		n.o.beforeRaise()
	}
	return n.BlockingNode.Raise(ctx, req)
}

// observe is one process on three servers.
func observe(t *testing.T, opts ...lock.Option) *observed {
	o := &observed{t: t}
	for _, name := range []string{"a", "b", "c"} {
		s := locktest.NewFakeServer(name)
		t.Cleanup(s.Close)
		o.servers = append(o.servers, s)
	}
	o.engine = o.another(opts...)
	return o
}

// another is another process on the same servers.
func (o *observed) another(opts ...lock.Option) *engine.Engine {
	o.t.Helper()
	var nodes []driver.Node
	for _, s := range o.servers {
		nodes = append(nodes, engine.Async(observedNode{s.Connect(1, locktest.Faults{}), o}))
	}
	began := time.Now()
	clock := engine.WithClock(func() time.Duration { return time.Since(began) })
	e, err := engine.NewEngine(nodes, append([]lock.Option{clock}, opts...)...)
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() {
		if err := e.Close(); err != nil {
			o.t.Error(err)
		}
	})
	return e
}
