package redlock_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealPeekLeavesNoMarker: servers that may have forgotten do not say who holds a lock, and a Peek begins no
// quarantine on them. Once somebody has vouched for them, they answer.
func TestRealPeekLeavesNoMarker(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	quarantine := redlock.WithRestartQuarantine(time.Minute)
	observer := f.locker(quarantine)
	for range 3 {
		_, err := observer.Peek(t.Context(), "job")
		wantErr(t, err, lock.ErrNoQuorum, driver.ErrQuarantined)
		wantText(t, err, f.servers[0].Addr())
		if keys := f.keys("*", f.all()...); len(keys) > 0 {
			t.Errorf("a Peek wrote %q", keys)
		}
	}
	var ran []string // a script, which the servers remember: a person says that they are new
	for _, s := range f.servers {
		ran = append(ran, s.Addr())
	}
	wantErr(t, redlock.Vouch(t.Context(), f.clients()), redlock.ErrNotNew)
	must(t, redlock.VouchNew(t.Context(), f.clients(), ran))
	s, err := observer.Peek(t.Context(), "job")
	if must(t, err); s.Held {
		t.Errorf("%+v", s)
	}
	lease := acquire(t, f.locker(quarantine), "job", lock.TTL(longTTL))
	eventually(t, settleTime, "the lease is seen", func() bool {
		s, err = observer.Peek(t.Context(), "job")
		return err == nil && s.Held && s.Fence == lease.Fence()
	})
	must(t, lease.Release(t.Context()))
}

// TestRealPeekAtAReplica: a node that has become a replica does not answer, and one that is a master again does.
func TestRealPeekAtAReplica(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 2)
	observer := newLocker(t, f.clients()[:1], redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(patience))
	peek := func() error {
		_, err := observer.Peek(t.Context(), "job")
		return err
	}
	must(t, peek())
	must(t, f.admin[0].SlaveOf(t.Context(), "127.0.0.1", portOf(f, 1)).Err())
	eventually(t, settleTime, "the replica is refused", func() bool {
		err := peek()
		if err == nil {
			t.Fatal("a replica answers")
		}
		return errors.Is(err, driver.ErrReplica)
	})
	must(t, f.admin[0].SlaveOf(t.Context(), "NO", "ONE").Err())
	eventually(t, settleTime, "the master answers", func() bool { return peek() == nil })
}

// TestRealPeekCommands: a Peek costs one call of a script on each node.
func TestRealPeekCommands(t *testing.T) {
	t.Parallel()
	server := locktest.Servers(t, 1)[0]
	admin := plainClient(t, &redis.Options{Addr: server.Addr()})
	l := newLocker(t, []redis.UniversalClient{plainClient(t, &redis.Options{Addr: server.Addr()})},
		redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(2*time.Second))
	_, err := l.Peek(t.Context(), "job")
	must(t, err)
	must(t, admin.ConfigResetStat(t.Context()).Err())
	for range 10 {
		_, err := l.Peek(t.Context(), "job")
		must(t, err)
	}
	stats := admin.Info(t.Context(), "commandstats").Val()
	if got := statsOf(stats, "evalsha", "eval", "script|load"); got != "evalsha=10 " {
		t.Errorf("ten peeks cost %s\n%s", got, stats)
	}
}
