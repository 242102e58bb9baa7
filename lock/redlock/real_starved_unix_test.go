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

// starved is the job of a child process that gets little CPU time: uncontended acquires, one after the other.
type starved struct {
	Nodes    []string
	Acquires int
}

// starvedTTL is short, so that a lease is renewed several times.
const starvedTTL = 2 * time.Second

type starvedResult struct {
	Acquired int
	NoQuorum int
	Lost     bool // of a second lease that it keeps
	Err      string
}

func (s starved) run(ctx context.Context) (r starvedResult) {
	var clients []redis.UniversalClient
	for _, addr := range s.Nodes {
		client := redis.NewClient(&redis.Options{Addr: addr})
		defer client.Close()
		clients = append(clients, client)
	}
	l, err := redlock.New(clients, redlock.WithRestartQuarantine(0))
	if err != nil {
		return starvedResult{Err: err.Error()}
	}
	defer l.Close()
	// The connection and the scripts exist before the process is starved: making them takes longer than an acquire.
	warm, err := l.Acquire(ctx, "warm")
	if err != nil {
		return starvedResult{Err: err.Error()}
	}
	_ = warm.Release(ctx)
	kept, err := l.Acquire(ctx, "kept", lock.TTL(starvedTTL))
	if err != nil {
		return starvedResult{Err: err.Error()}
	}
	defer func() {
		r.Lost = kept.Context().Err() != nil
		_ = kept.Release(ctx)
	}()
	fmt.Println("ready")
	for i := range s.Acquires {
		lease, err := l.Acquire(ctx, fmt.Sprint("job", i), lock.NoWait())
		switch {
		case err == nil:
			r.Acquired++
			_ = lease.Release(ctx)
		case errors.Is(err, lock.ErrNoQuorum):
			r.NoQuorum++
		default:
			r.Err = err.Error()
			return r
		}
	}
	return r
}

// TestRealStarvedProcess stops a process for 60 and for 90 of every 100 ms, as a CPU quota does to a container. With
// every default, its acquires meet no contention and no fault, and none may fail. One in a hundred may if the machine
// is busy, too. A node timeout of 50 ms that is used up when the process resumes would lose 3 % and 13 % of them.
func TestRealStarvedProcess(t *testing.T) {
	for _, stopped := range []time.Duration{60 * time.Millisecond, 90 * time.Millisecond} {
		t.Run(fmt.Sprint(stopped), func(t *testing.T) {
			f := startNodes(t, 1)
			c := startJob(t, childJob{Starved: &starved{Nodes: []string{f.servers[0].Addr()}, Acquires: 2000}})
			c.await("ready")
			for c.Running() {
				err := c.Freeze()
				if errors.Is(err, process.ErrExited) {
					break
				}
				must(t, err)
				time.Sleep(stopped) // the fault itself
				must(t, c.Thaw())
				select {
				case <-c.Done():
				case <-time.After(100*time.Millisecond - stopped):
				}
			}
			var r starvedResult
			c.result(&r)
			if r.Err != "" {
				t.Error(r.Err)
			}
			if r.NoQuorum > r.Acquired/100 {
				t.Errorf("%d acquires found no quorum, and %d did", r.NoQuorum, r.Acquired)
			}
			if r.Lost {
				t.Error("the lease it kept was lost")
			}
		})
	}
}
