package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/memlock"
)

// process is a locker whose callers queue for one resource, and the events of its traces.
type process struct {
	t      *testing.T
	nodes  memlock.Nodes
	locker *memlock.Locker

	attempts counter
	acquires counter // requests to nodes, as the next two
	extends  counter
	releases counter
	handed   counter // releases that handed the lock over
}

type counter struct{ n atomic.Int64 }

func (c *counter) add()      { c.n.Add(1) }
func (c *counter) read() int { return int(c.n.Load()) }

// inProcess runs f in fake time on three nodes. Polls are an hour apart: a caller that waits for the network instead of
// a hand-over shows.
func inProcess(t *testing.T, f func(p *process), opts ...lock.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &process{t: t, nodes: memlock.NewNodes(3)}
		p.locker = p.another(opts...)
		f(p)
	})
}

// another returns a locker on the same nodes, as a second process has it.
func (p *process) another(opts ...lock.Option) *memlock.Locker {
	p.t.Helper()
	l, err := memlock.New(p.nodes, append([]lock.Option{lock.WithPollInterval(time.Hour)}, opts...)...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = l.Close() })
	return l
}

// caller is one Acquire, in the background.
type caller struct {
	p      *process
	cancel context.CancelFunc
	done   chan struct{}
	lease  lock.Lease
	err    error
	end    locktrace.AcquireEnd
	wait   locktrace.WaitEnd // how long it waited in the local queue, if it did
}

// call begins an Acquire and returns once it waits or has ended.
func (p *process) call(opts ...lock.AcquireOption) *caller {
	c := &caller{p: p, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(p.t.Context())
	c.cancel = cancel
	ctx = locktrace.With(ctx, &locktrace.Trace{
		AttemptStart: func(ctx context.Context, _ locktrace.AttemptStart) context.Context {
			p.attempts.add()
			return ctx
		},
		NodeEnd: func(_ context.Context, e locktrace.NodeEnd) {
			switch e.Op {
			case lock.OpAcquire:
				p.acquires.add()
			case lock.OpExtend:
				p.extends.add()
			case lock.OpRelease:
				p.releases.add()
			}
		},
		WaitEnd: func(_ context.Context, e locktrace.WaitEnd) {
			if e.Kind == locktrace.WaitLocal {
				c.wait = e
			}
		},
		AcquireEnd: func(_ context.Context, e locktrace.AcquireEnd) { c.end = e },
		ReleaseEnd: func(_ context.Context, e locktrace.ReleaseEnd) {
			if e.HandedOver {
				p.handed.add()
			}
		},
	})
	go func() {
		defer close(c.done)
		c.lease, c.err = p.locker.Acquire(ctx, "job", opts...)
	}()
	synctest.Wait()
	return c
}

// queue returns a caller that holds the lock with a run of fences, and the callers that wait behind it.
func (p *process) queue(holder []lock.AcquireOption, waiting ...[]lock.AcquireOption) (*caller, []*caller) {
	p.t.Helper()
	first := p.call()
	callers := []*caller{p.call(holder...)} // it contends
	for _, opts := range waiting {
		callers = append(callers, p.call(opts...))
	}
	first.release()
	callers[0].served()
	return callers[0], callers[1:]
}

// served fails the test unless the caller has the lock by now.
func (c *caller) served() lock.Lease {
	c.p.t.Helper()
	synctest.Wait()
	if !c.isDone() || c.err != nil {
		c.p.t.Fatalf("no lease: done %v, %v", c.isDone(), c.err)
	}
	return c.lease
}

func (c *caller) isDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *caller) release() {
	c.p.t.Helper()
	if err := c.served().Release(c.p.t.Context()); err != nil {
		c.p.t.Fatal(err)
	}
}

// isHeld reports whether another process finds the lock held.
func (p *process) isHeld() bool {
	lease, err := p.another().Acquire(p.t.Context(), "job", lock.NoWait())
	if err == nil {
		_ = lease.Release(p.t.Context())
	}
	return err != nil
}
