//go:build unix

package redlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// readingJob is the job of a child process: it reads "job" until its lease ends.
type readingJob struct {
	Nodes []string
	TTL   time.Duration
}

type readingResult struct{ Cause, Err string }

func (j readingJob) run(ctx context.Context) readingResult {
	var clients []redis.UniversalClient
	for _, addr := range j.Nodes {
		client := redis.NewClient(&redis.Options{Addr: addr})
		defer client.Close()
		clients = append(clients, client)
	}
	l, err := redlock.New(clients, lock.WithNodeTimeout(nodeTimeout), redlock.WithRestartQuarantine(0))
	if err != nil {
		return readingResult{Err: err.Error()}
	}
	defer l.Close()
	rw, err := rwlock.New(l, "job")
	if err != nil {
		return readingResult{Err: err.Error()}
	}
	lease, err := rw.RLock(ctx, lock.TTL(j.TTL))
	if err != nil {
		return readingResult{Err: err.Error()}
	}
	fmt.Println("reads")
	select {
	case <-lease.Context().Done():
		return readingResult{Cause: context.Cause(lease.Context()).Error()}
	case <-ctx.Done():
		return readingResult{Err: "the lease goes on"}
	}
}

// TestRealRevokeStoppedReader: a stopped process can neither renew nor release. A writer gets the lock at the promised
// time, and the reader finds its lease over when the process goes on.
func TestRealRevokeStoppedReader(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	job := readingJob{TTL: 5 * nodeTimeout}
	for _, s := range f.servers {
		job.Nodes = append(job.Nodes, s.Addr())
	}
	stopped, lives := startJob(t, childJob{Reading: &job}), startJob(t, childJob{Reading: &job})
	stopped.await("reads")
	lives.await("reads")
	must(t, stopped.Freeze())
	waiting := writes(t, f.locker())
	r := revokeReaders(t, f.locker(), swapReaders, 2)
	if r.FreeIn > job.TTL || len(r.Holders) != 2 {
		t.Errorf("%+v", r)
	}
	got := <-waiting
	must(t, got.err)
	must(t, stopped.Thaw())
	for what, c := range map[string]*child{"stopped": stopped, "live": lives} {
		var result readingResult
		if c.result(&result); result.Err != "" || result.Cause == "" {
			t.Errorf("the %s reader: %+v", what, result)
		}
	}
	must(t, got.lease.Extend(t.Context()))
	must(t, got.lease.Release(t.Context()))
}
