package redlock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealRemedyOfAQuorum: the error about new nodes shows the command that vouches for them. The error about restarted
// nodes does not, however the restart was detected.
func TestRealRemedyOfAQuorum(t *testing.T) {
	t.Parallel()
	byDefault := lock.WithDefaults(lock.TTL(longTTL))
	command := func(f *realNodes) string {
		addrs := []string{f.servers[0].Addr(), f.servers[1].Addr(), f.servers[2].Addr()}
		return "vouch for them, once: lockscope init --redis " + strings.Join(addrs, ",")
	}
	wantWait := func(t *testing.T, f *realNodes, err error) {
		t.Helper()
		wantErr(t, err, lock.ErrNoQuorum, driver.ErrQuarantined)
		wantText(t, err, ". Wait ", "If you know that a node forgot no lock, vouch for that node", "init --restarted")
		if containsText(err, "--redis") {
			t.Errorf("it offers what is for new nodes: %v", err)
		}
	}
	used := func(t *testing.T, f *realNodes) *engine.Engine {
		t.Helper()
		l := guardedLocker(t, f.clients(), lock.WithNodeTimeout(patience), byDefault)
		_, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		wantErr(t, err, lock.ErrNoQuorum, driver.ErrQuarantined)
		wantText(t, err, command(f), ". Wait ", "it is new or lost its data")
		f.vouchForAll()
		eventually(t, settleTime, "the nodes vote", func() bool {
			lease, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
			return err == nil && lease.Release(t.Context()) == nil
		})
		return l
	}
	t.Run("with their data", func(t *testing.T) {
		t.Parallel()
		f := startNodes(t, 3, appendOnly())
		used(t, f)
		f.kill(f.all()...)
		f.restart(f.all()...)
		for range 2 { // this process met the old marker, or an earlier one did
			l := guardedLocker(t, f.clients(), lock.WithNodeTimeout(patience), byDefault)
			_, err := refused(t, l, "job", lock.ErrNoQuorum, driver.ErrQuarantined)
			wantWait(t, f, err)
		}
	})
	t.Run("without their data, in use by this process", func(t *testing.T) {
		t.Parallel()
		f := startNodes(t, 3)
		l := used(t, f)
		f.kill(f.all()...)
		f.wipe(f.all()...)
		f.restart(f.all()...)
		_, err := refused(t, l, "job", lock.ErrNoQuorum, driver.ErrQuarantined)
		wantWait(t, f, err)
	})
	t.Run("two of three without their data, in another process", func(t *testing.T) {
		t.Parallel()
		f := startNodes(t, 3)
		used(t, f)
		f.kill(1, 2)
		f.wipe(1, 2)
		f.restart(1, 2)
		l := guardedLocker(t, f.clients(), lock.WithNodeTimeout(patience), byDefault)
		var err error
		eventually(t, settleTime, "the node that votes has answered", func() bool {
			_, err = l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
			return err != nil && !containsText(err, "--redis")
		})
		wantWait(t, f, err)
	})
}

// TestRealCommandOfTheErrorHasNoPassword, but shows where to fill it in.
func TestRealCommandOfTheErrorHasNoPassword(t *testing.T) {
	t.Parallel()
	const password = "s3cret-pw"
	f := startNodes(t, 3)
	var urls []string
	for i, c := range f.admin {
		must(t, c.ACLSetUser(t.Context(), "svc", "on", ">"+password, "~*", "&*", "+@all").Err())
		urls = append(urls, "redis://svc:"+password+"@"+f.servers[i].Addr())
	}
	l, err := redlock.Open(urls, lock.WithNodeTimeout(patience), lock.WithMaxTTL(90*time.Second))
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	_, err = l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
	wantText(t, err, "--max-ttl 1m30s --redis-username USER --redis-password-file FILE")
	if q, ok := errors.AsType[*driver.QuarantineError](err); !ok || !q.New || q.Left <= 0 {
		t.Errorf("%v", err)
	}
	if containsText(err, password) || containsText(err, "svc") {
		t.Errorf("%v", err)
	}
}
