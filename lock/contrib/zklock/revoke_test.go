package zklock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/engine"
)

var swap = engine.RevokeRequest{By: "ops@host", Reason: "disk swap"}

// TestRevokeOfAPlainLock is refused: zk.Lock and Curator look for no mark. Their lock stays theirs.
func TestRevokeOfAPlainLock(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	conn := client(t, e)
	plain := zk.NewLock(conn, "/locks/job", zk.WorldACL(zk.PermAll))
	must(t, plain.Lock())
	claim := "/locks/job/" + children(t, conn, "job")[0]
	before, stat, err := conn.Get(claim)
	must(t, err)
	_, err = locker(t, e).Revoke(t.Context(), "job", swap)
	wantErr(t, err, errors.ErrUnsupported)
	if !strings.Contains(err.Error(), "another library wrote this lock") {
		t.Error(err)
	}
	after, same, err := conn.Get(claim)
	if err != nil || string(after) != string(before) || same.Version != stat.Version {
		t.Errorf("its claim had %q, and has %q, %v", before, after, err)
	}
	must(t, plain.Unlock())
}

// TestRevokeLeavesARecord: others read who holds the lock, as before, and for how long.
func TestRevokeLeavesARecord(t *testing.T) {
	t.Parallel()
	e := ensemble(t, 1)
	holder, l, conn := locker(t, e, lock.WithInstance("web-1")), locker(t, e), client(t, e)
	lease := acquire(t, holder, "job", lock.NoRenew())
	before := peeked(t, l)
	r, err := l.Revoke(t.Context(), "job", swap)
	if must(t, err); r.Holders[0].Holder.Instance != "web-1" || r.Holders[0].Fence != lease.Fence() {
		t.Errorf("%+v", r)
	}
	if session := zklock.SessionFor(zklock.DefaultMaxTTL); r.FreeIn != lock.DefaultTTL+session+session/2 {
		t.Errorf("free in %v", r.FreeIn)
	}
	after := peeked(t, l)
	if later := after.NotAfter.Sub(before.NotAfter); after.Holder.Instance != "web-1" || later > time.Second {
		t.Errorf("%+v, and once it is revoked %+v", before, after)
	}
	all, err := zklock.ReadHeldLocks(t.Context(), conn, zklock.DefaultRoot)
	if err != nil || len(all) != 1 || all[0].Holder.Instance != "web-1" || all[0].Fence != lease.Fence() {
		t.Errorf("%+v, %v", all, err)
	}
	must(t, lease.Release(t.Context()))
}

func peeked(t *testing.T, l *engine.Engine) lock.Sighting {
	t.Helper()
	s, err := l.Peek(t.Context(), "job")
	must(t, err)
	return s
}
