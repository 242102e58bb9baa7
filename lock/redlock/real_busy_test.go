package redlock_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// TestRealBusy: while somebody's script runs for too long, a server refuses nearly all commands, INFO among them. Callers
// learn that, and one that waits gets its lease once the script ends. So do those whose connections are new.
func TestRealBusy(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	must(t, f.admin[0].ConfigSet(t.Context(), "lua-time-limit", "1").Err())
	warm, cold := f.locker(lock.WithNodeTimeout(patience)), f.locker(lock.WithNodeTimeout(patience))
	f.warm(warm)
	time.Sleep(1100 * time.Millisecond) // the next vote takes a probe with it
	ended, other := make(chan error, 1), plainClient(t, &redis.Options{Addr: f.servers[0].Addr(), ReadTimeout: -1})
	go func() { ended <- other.Eval(t.Context(), "while true do end", nil).Err() }()
	eventually(t, settleTime, "the server is busy", func() bool {
		return redis.HasErrorPrefix(f.admin[0].Ping(t.Context()).Err(), "BUSY")
	})
	var waiters []<-chan grant // none waits for another
	for job, l := range map[string]*engine.Engine{"warm": warm, "cold": cold} {
		for range 2 { // the first takes the probe
			_, err := l.Acquire(t.Context(), job, lock.NoWait(), lock.TTL(longTTL))
			wantErr(t, err, lock.ErrNoQuorum)
			wantText(t, err, "blocked by a script", "SCRIPT KILL")
			if class := driver.ClassOf(err); class != driver.Unreachable {
				t.Errorf("%v is %q", err, class)
			}
		}
		waiters = append(waiters, acquireAsync(t.Context(), l, job, lock.MaxWait(waitTime), lock.TTL(longTTL)))
	}
	must(t, f.admin[0].ScriptKill(t.Context()).Err())
	if err := await(t, waitTime, "the script ends", ended); err == nil {
		t.Error("the script was not killed")
	}
	for _, waiter := range waiters {
		got := await(t, waitTime, "the waiter gets its lease", waiter)
		must(t, got.err)
		must(t, got.lease.Release(t.Context()))
	}
}
