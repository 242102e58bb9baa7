package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
)

// withoutPeek hides the Peek of a node.
type withoutPeek struct{ driver.BlockingNode }

func (withoutPeek) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	return driver.BlockingLockOnly{}.Peek(ctx, req)
}

func peekEngine(t *testing.T, servers []*locktest.FakeServer, wrap func(driver.BlockingNode) driver.BlockingNode,
) *engine.Engine {
	t.Helper()
	var nodes []driver.Node
	for _, s := range servers {
		nodes = append(nodes, engine.Async(wrap(s.Connect(1, locktest.Faults{}))))
	}
	began := time.Now()
	e, err := engine.NewEngine(nodes, lock.WithNodeTimeout(200*time.Millisecond), lock.WithInstance("app-1"),
		engine.WithClock(func() time.Duration { return time.Since(began) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func asIs(n driver.BlockingNode) driver.BlockingNode { return n }

// TestPeekWithFaults: with one node of three dead, hung, empty or in quarantine a Peek sees the holder, and without a
// quorum it says that it cannot tell. It never takes longer than the node timeout.
func TestPeekWithFaults(t *testing.T) {
	for name, fault := range map[string]func(*locktest.FakeServer){
		"dead": (*locktest.FakeServer).Crash,
		"hung": (*locktest.FakeServer).Pause,
		"empty": func(s *locktest.FakeServer) {
			s.Crash()
			s.RestartEmpty(0)
		},
		"quarantined": func(s *locktest.FakeServer) {
			s.Crash()
			s.RestartEmpty(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var servers []*locktest.FakeServer
				for i := range 3 {
					s := locktest.NewFakeServer(fmt.Sprint("r", i+1))
					t.Cleanup(s.Close)
					servers = append(servers, s)
				}
				holder, observer := peekEngine(t, servers, asIs), peekEngine(t, servers, asIs)
				lease, err := holder.Acquire(t.Context(), "job", lock.NoRenew())
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				see := func() (lock.Sighting, error) {
					t.Helper()
					began := time.Now()
					s, err := observer.Peek(t.Context(), "job")
					if took := time.Since(began); took > 200*time.Millisecond {
						t.Errorf("a Peek took %v", took)
					}
					return s, err
				}
				fault(servers[0])
				s, err := see()
				if err != nil || !s.Held || s.Holder.Instance != "app-1" || s.Fence != lease.Fence() {
					t.Errorf("one node of three: %+v, %v", s, err)
				}
				if left := time.Until(s.NotAfter); left < lease.Remaining() || left > lock.DefaultTTL {
					t.Errorf("seen for %v, the lease has %v left", left, lease.Remaining())
				}
				fault(servers[1])
				if s, err = see(); name == "empty" {
					if err != nil || s.Held {
						t.Errorf("two of three are empty: %+v, %v", s, err)
					}
				} else if !errors.Is(err, lock.ErrNoQuorum) || s.Held {
					t.Errorf("two of three: %+v, %v", s, err)
				}
			})
		})
	}
}

// TestPeekWithoutSupport says so, and so does a closed engine.
func TestPeekWithoutSupport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := locktest.NewFakeServer("r1")
		t.Cleanup(s.Close)
		e := peekEngine(t, []*locktest.FakeServer{s}, func(n driver.BlockingNode) driver.BlockingNode {
			return withoutPeek{n}
		})
		if _, err := e.Peek(t.Context(), "job"); !errors.Is(err, errors.ErrUnsupported) || !errors.Is(err, lock.ErrNoQuorum) {
			t.Error(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Peek(t.Context(), "job"); !errors.Is(err, lock.ErrClosed) {
			t.Error(err)
		}
	})
}
