package redlock_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// TestRealScriptFlush loses the scripts on every node before each kind of command.
func TestRealScriptFlush(t *testing.T) {
	f := startNodes(t, 3)
	flush := func() {
		for _, c := range f.admin {
			must(t, c.ScriptFlush(t.Context()).Err())
		}
	}
	l, rec := f.locker(), newRecorder()
	f.warm(l)
	flush()
	lease := acquire(t, l, "job", lock.TTL(longTTL), lock.NoRenew())
	waiting := acquireAsync(rec.in(t.Context()), f.locker(), "job", lock.TTL(longTTL))
	eventually(t, settleTime, "the other queues", func() bool { return f.queued("job") == 1 })
	flush()
	must(t, lease.Extend(t.Context()))
	flush()
	must(t, lease.Release(t.Context()))
	g := await(t, settleTime, "the waiter", waiting)
	must(t, g.err)
	if n := of(rec, func(e locktrace.WaitEnd) bool { return e.Named }); n == 0 {
		t.Error("the waiter was not named")
	}
	flush()
	must(t, g.lease.Release(t.Context()))
	f.wantOnlyFences()
}

func TestRealOutOfMemory(t *testing.T) {
	f, rec := startNodes(t, 3), newRecorder()
	l := f.locker()
	f.warm(l)
	longLease := acquire(t, l, "held", lock.TTL(longTTL), lock.NoRenew())
	f.config("maxmemory", "1", 0)
	began := time.Now()
	lease, err := l.Acquire(rec.in(t.Context()), "job", lock.TTL(longTTL))
	must(t, err)
	wantWithin(t, "acquire with one node full", time.Since(began), soon)
	must(t, lease.Release(t.Context()))
	awaitEvents(t, rec, settleTime, 1, "OOM from the full node", func(e locktrace.NodeEnd) bool {
		return e.Op == lock.OpAcquire && e.Node == f.servers[0].Addr() && e.Err != nil
	})

	f.config("maxmemory", "1", 1, 2)
	began = time.Now()
	_, err = l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
	wantWithin(t, "acquire with all nodes full", time.Since(began), soon)
	wantText(t, err, "OOM")
	if quorum, ok := errors.AsType[*lock.QuorumError](err); !ok || len(quorum.Errors) < 2 {
		t.Errorf("error is %v, want a *QuorumError with the nodes' reasons", err)
	}
	// Commands that need no memory still work.
	must(t, longLease.Extend(t.Context()))
	must(t, longLease.Release(t.Context()))
	f.wantNoLocks()
	f.config("maxmemory", "0", 0, 1, 2)
	must(t, acquire(t, l, "job", lock.NoWait()).Release(t.Context()))
	f.wantNoLocks()
}

// becomeReplica makes a node a replica of the stranger, or, without one, a master again.
func (f *realNodes) becomeReplica(node int, stranger *realNodes) {
	f.t.Helper()
	if stranger != nil { // else it waits for more replicas before it sends its data
		stranger.config("repl-diskless-sync-delay", "0", 0)
	}
	args := []any{"REPLICAOF", "NO", "ONE"}
	if stranger != nil {
		args = []any{"REPLICAOF", "127.0.0.1", stranger.servers[0].Port()}
	}
	must(f.t, f.admin[node].Do(f.t.Context(), args...).Err())
}

// TestRealReadOnlyMinority makes one of three nodes a replica of a stranger while the lock is held.
func TestRealReadOnlyMinority(t *testing.T) {
	f, stranger := startNodes(t, 3), startNodes(t, 1)
	l := f.locker()
	lease := acquire(t, l, "job", lock.TTL(longTTL), lock.NoRenew())
	f.becomeReplica(0, stranger)
	began := time.Now()
	must(t, lease.Extend(t.Context()))
	other := acquire(t, l, "other", lock.TTL(longTTL))
	wantWithin(t, "extend and acquire", time.Since(began), soon)
	must(t, other.Release(t.Context()))
	must(t, lease.Release(t.Context()))
	f.wantNoLocks(1, 2)
	f.becomeReplica(0, nil)
	f.wantNoLocks()
	eventually(t, settleTime, "the node votes again", func() bool {
		f.pause(1)
		defer f.resume(1)
		again, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		return err == nil && again.Release(t.Context()) == nil
	})
	f.wantNoLocks()
}

// TestRealReadOnlySingle makes the only node a replica: once before the connection is made, and once on an open
// connection.
func TestRealReadOnlySingle(t *testing.T) {
	f, master := startNodes(t, 1), startNodes(t, 1)
	open := f.locker()
	lease := acquire(t, open, "job", lock.TTL(longTTL), lock.NoRenew())
	f.becomeReplica(0, master)
	err := lease.Extend(t.Context())
	wantText(t, err, "READONLY")
	wantErr(t, err, lock.ErrNoQuorum)
	if lease.Context().Err() != nil {
		t.Error("a lease that could not be extended is lost before its time")
	}
	_, err = open.Acquire(t.Context(), "other", lock.NoWait())
	if !errors.Is(err, driver.ErrReplica) {
		wantText(t, err, "READONLY")
	}
	eventually(t, settleTime, "the replica is in sync, and answers again", func() bool {
		return strings.Contains(f.admin[0].Info(t.Context(), "replication").Val(), "master_link_status:up")
	})
	began := time.Now()
	_, err = f.locker().Acquire(t.Context(), "other", lock.MaxWait(settleTime)) // nothing can free it
	wantWithin(t, "acquire", time.Since(began), soon)
	wantErr(t, err, driver.ErrReplica, lock.ErrNoQuorum)
	wantText(t, err, f.servers[0].Addr())
	err = lease.Release(t.Context())
	if e, ok := errors.AsType[*lock.ReleaseError](err); !ok || e.Outcome != lock.OutcomeUnknown {
		t.Errorf("release on a replica says %v, want unknown", err)
	}
}

// TestRealMisconf has a node that cannot save and therefore refuses every write, also releases.
func TestRealMisconf(t *testing.T) {
	for _, n := range []int{1, 3} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			f := startNodes(t, n)
			l := f.locker()
			lease := acquire(t, l, "job", lock.TTL(longTTL), lock.NoRenew())
			blocker := filepath.Join(f.servers[0].Dir(), "dump.rdb")
			must(t, os.Mkdir(blocker, 0o700)) // a file cannot be renamed over a directory
			f.config("save", "3600 1", 0)
			must(t, f.admin[0].BgSave(t.Context()).Err())
			failed := func() bool { return f.admin[0].Set(t.Context(), "x", 1, time.Second).Err() != nil }
			eventually(t, settleTime, "the node refuses writes", failed)
			err := lease.Extend(t.Context())
			if n == 1 {
				wantText(t, err, "MISCONF")
				_, err := l.Acquire(t.Context(), "other", lock.NoWait())
				wantText(t, err, "MISCONF")
				wantErr(t, err, lock.ErrNoQuorum)
			} else {
				must(t, err)
				must(t, acquire(t, l, "other", lock.TTL(longTTL)).Release(t.Context()))
			}
			f.config("save", "", 0)
			must(t, lease.Release(t.Context()))
			f.wantNoLocks()
		})
	}
}
