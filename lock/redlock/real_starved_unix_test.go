//go:build unix

package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/process"
	"github.com/lockscope/lockscope/lock/redlock"
)

// starved is the job of a child process that gets little time to run: uncontended acquires, one after the other.
type starved struct {
	Nodes       []string
	Acquires    int           // at most: one without a quorum is enough
	NodeTimeout time.Duration // 0: the default
}

type starvedResult struct {
	Acquired int
	NoQuorum bool
	Err      string
}

func (s starved) run(ctx context.Context) (r starvedResult) {
	var clients []redis.UniversalClient
	for _, addr := range s.Nodes {
		client := redis.NewClient(&redis.Options{Addr: addr})
		defer client.Close()
		clients = append(clients, client)
	}
	opts := []lock.Option{redlock.WithRestartQuarantine(0)}
	if s.NodeTimeout > 0 {
		opts = append(opts, lock.WithNodeTimeout(s.NodeTimeout))
	}
	l, err := redlock.New(clients, opts...)
	if err != nil {
		return starvedResult{Err: err.Error()}
	}
	defer l.Close()
	// The connection and the scripts are there before the process is starved: they take more than one acquire.
	warm, err := l.Acquire(ctx, "warm")
	if err != nil {
		return starvedResult{Err: err.Error()}
	}
	_ = warm.Release(ctx)
	fmt.Println("ready")
	for i := range s.Acquires {
		lease, err := l.Acquire(ctx, fmt.Sprint("job", i), lock.NoWait())
		switch {
		case err == nil:
			r.Acquired++
			_ = lease.Release(ctx)
			continue
		case errors.Is(err, lock.ErrNoQuorum):
			r.NoQuorum = true
		default:
			r.Err = err.Error()
		}
		return r
	}
	return r
}

// TestRealOpenStarvedProcess stops a process for 90 of every 100 ms, as a CPU quota does to a container. Its acquires meet no
// contention and no fault, and yet some fail: the node timeout is over when the process goes on, and the timer is seen before
// the answers. With twenty times the node timeout none does, on a machine that is busy beside. The first half of this turns around when node timeouts follow
// the TTL (issue 11).
func TestRealOpenStarvedProcess(t *testing.T) {
	for _, test := range []struct {
		nodeTimeout time.Duration
		acquires    int
		fails       bool
	}{{0, 50_000, true}, {time.Second, 1000, false}} {
		t.Run(fmt.Sprint("node timeout ", test.nodeTimeout), func(t *testing.T) {
			f := startNodes(t, 1)
			c := startJob(t, childJob{Starved: &starved{Nodes: []string{f.servers[0].Addr()}, Acquires: test.acquires, NodeTimeout: test.nodeTimeout}})
			c.await("ready")
			for c.Running() {
				err := c.Freeze()
				if errors.Is(err, process.ErrExited) {
					break
				}
				must(t, err)
				time.Sleep(90 * time.Millisecond) // the fault itself
				must(t, c.Thaw())
				select {
				case <-c.Done():
				case <-time.After(10 * time.Millisecond):
				}
			}
			var r starvedResult
			c.result(&r)
			if r.Err != "" {
				t.Error(r.Err)
			}
			if r.NoQuorum != test.fails {
				t.Errorf("after %d acquires one found no quorum: %v, want %v", r.Acquired, r.NoQuorum, test.fails)
			}
		})
	}
}
