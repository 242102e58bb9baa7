package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// coldNode grants everything, but only once it is warm: connecting takes longer than the node timeout.
type coldNode struct {
	driver.BlockingNode
	connects time.Duration
	fails    error
	asked    chan struct{} // gets an element for each acquire
	warm     chan struct{}
}

func newColdNode(connects time.Duration, fails error) *coldNode {
	return &coldNode{connects: connects, fails: fails, asked: make(chan struct{}, 100), warm: make(chan struct{})}
}

func (n *coldNode) Name() string   { return "cold" }
func (n *coldNode) System() string { return "other" }
func (n *coldNode) Close() error   { return nil }

func (n *coldNode) Capabilities() driver.Capabilities { return driver.Capabilities{} }

func (n *coldNode) Warm(ctx context.Context) error {
	select {
	case <-time.After(n.connects):
	case <-ctx.Done():
		return ctx.Err()
	}
	close(n.warm)
	return n.fails
}

func (n *coldNode) Acquire(ctx context.Context, _ driver.AcquireRequest) (driver.AcquireReply, error) {
	n.asked <- struct{}{}
	select {
	case <-n.warm:
		return driver.AcquireReply{Granted: n.fails == nil, Counter: 1, Run: 1}, n.fails
	case <-ctx.Done():
		return driver.AcquireReply{}, driver.ErrTimeout
	}
}

func (n *coldNode) Release(context.Context, driver.ReleaseRequest) (driver.ReleaseReply, error) {
	return driver.ReleaseReply{Found: driver.FoundOwn}, nil
}

func coldEngine(t *testing.T, n *coldNode) *engine.Engine {
	t.Helper()
	e, err := engine.NewEngine([]driver.Node{engine.Async(n)}, lock.WithNodeTimeout(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestTheFirstVoteWaitsForConnections, which may take longer than the node timeout, but for at most five seconds.
func TestTheFirstVoteWaitsForConnections(t *testing.T) {
	refused := errors.New("connection refused")
	for name, c := range map[string]struct {
		connects time.Duration
		fails    error
		took     time.Duration
		want     error
	}{
		"slowly":        {2 * time.Second, nil, 2 * time.Second, nil},
		"never":         {time.Hour, nil, 5*time.Second + 50*time.Millisecond, lock.ErrNoQuorum},
		"not, and soon": {time.Second, refused, time.Second, refused},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newColdNode(c.connects, c.fails)
				e := coldEngine(t, n)
				defer func() { _ = e.Close() }()
				began := time.Now()
				_, err := e.Acquire(t.Context(), "job", lock.NoWait(), lock.NoRenew())
				if took := time.Since(began); !errors.Is(err, c.want) || took != c.took {
					t.Errorf("after %v: %v, want %v after %v", took, err, c.want, c.took)
				}
			})
		})
	}
}

// TestWarmingUpEnds with the caller's context and with the engine.
func TestWarmingUpEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newColdNode(time.Hour, nil)
		e := coldEngine(t, n)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := e.Acquire(ctx, "job"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		began := time.Now()
		if err := e.Close(); err != nil || time.Since(began) > 100*time.Millisecond {
			t.Errorf("Close took %v: %v", time.Since(began), err)
		}
	})
}
