package redlock_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// alone returns a locker on these nodes of the set only, with the options that its caller gives and no others.
func (f *realNodes) alone(nodes []int, opts ...lock.Option) *engine.Engine {
	f.t.Helper()
	var some []redis.UniversalClient
	for _, i := range nodes {
		some = append(some, plainClient(f.t, &redis.Options{Addr: f.servers[i].Addr()}))
	}
	l, err := redlock.New(some, append([]lock.Option{lock.WithNodeTimeout(patience)}, opts...)...)
	must(f.t, err)
	f.t.Cleanup(func() { must(f.t, l.Close()) })
	return l
}

// refusesAlone requires that the nodes' markers refuse a caller, name both sets, and stay as they are.
func (f *realNodes) refusesAlone(what string, l lock.Locker, named int) {
	f.t.Helper()
	before := f.markers()
	for range 2 { // on a new connection, and on one that is known
		lease, err := l.Acquire(f.t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		if err == nil {
			f.t.Errorf("%s: granted with fence %d", what, lease.Fence())
			must(f.t, lease.Release(f.t.Context()))
			return
		}
		wantErr(f.t, err, redlock.ErrOtherConfiguration, lock.ErrNoQuorum)
		wantText(f.t, err, fmt.Sprintf("this node votes for a set of 3 nodes, you named %d", named), "name all 3")
	}
	if after := f.markers(); after != before {
		f.t.Errorf("%s: the markers are %q now, and were %q", what, after, before)
	}
}

func (f *realNodes) markers() (all string) {
	for _, c := range f.admin {
		all += c.Get(f.t.Context(), guard.MarkerKey).Val() + "\n"
	}
	return all
}

// TestRealNodeOfASetNamedAlone: one forgotten address in a crontab. The node's marker decides, not the number of nodes
// that the caller names.
func TestRealNodeOfASetNamedAlone(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3, appendOnly())
	f.vouchForAll()
	refused := func(what string) {
		t.Helper()
		f.refusesAlone(what+", c alone", f.alone([]int{2}), 1)
		f.refusesAlone(what+", a and c", f.alone([]int{0, 2}), 2)
		f.refusesAlone(what+", c without a quarantine", f.alone([]int{2}, redlock.WithRestartQuarantine(0)), 1)
		f.refusesAlone(what+", c with a quarantine", f.alone([]int{2}, redlock.WithRestartQuarantine(time.Minute)), 1)
		f.refusesAlone(what+", c by its marker", f.alone([]int{2}, redlock.WithMarkerIdentity()), 1)
	}
	refused("while all vote")
	shared, err := rwlock.New(f.alone([]int{2}), "job")
	must(t, err)
	_, err = shared.TryRLock(t.Context(), lock.TTL(longTTL))
	wantErr(t, err, redlock.ErrOtherConfiguration)
	pool, err := semaphore.New(f.alone([]int{2}), "pool", 2)
	must(t, err)
	_, err = pool.Acquire(t.Context(), lock.NoWait(), lock.TTL(longTTL))
	wantErr(t, err, redlock.ErrOtherConfiguration)
	known := f.alone([]int{2}) // it has seen the node before its restart
	f.refusesAlone("before the restart", known, 1)

	set := guardedLocker(t, f.clients(), lock.WithNodeTimeout(patience))
	f.pause(2)
	holder := acquire(t, set, "job", lock.TTL(longTTL), lock.NoRenew())
	f.resume(2)
	f.kill(2)
	f.restart(2)
	refused("after a restart, with the marker of before")
	eventually(t, settleTime, "who knew the node is refused", func() bool {
		_, err := known.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		return containsText(err, "you named 1")
	})
	eventually(t, settleTime, "its own set begins its quarantine", func() bool {
		must(t, acquire(t, set, "other", lock.TTL(longTTL)).Release(t.Context()))
		return strings.Contains(fmt.Sprint(f.markers()), "quarantine|3:")
	})
	refused("in its quarantine")
	if holder.Context().Err() != nil {
		t.Error("the lease under test is over")
	}

	if s, err := f.alone([]int{0}).Peek(t.Context(), "job"); err != nil || !s.Held {
		t.Errorf("who only reads: %+v, %v", s, err)
	}
	_, err = f.alone([]int{0}).Revoke(t.Context(), "job", engine.RevokeRequest{By: "ops", Reason: "test"})
	wantErr(t, err, redlock.ErrOtherConfiguration)
	must(t, acquire(t, f.alone([]int{2}, redlock.WithoutGuard()), "unguarded", lock.TTL(longTTL)).Release(t.Context()))
}

// TestRealLeaseOfACallerThatNamedOneNode: a node that has no marker yet grants it. Once a set counts on the node, that
// caller's lease is neither extended nor put back, whatever it holds.
func TestRealLeaseOfACallerThatNamedOneNode(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(t *testing.T, l *engine.Engine) (extender, error){
		"a lock": func(t *testing.T, l *engine.Engine) (extender, error) {
			return l.Acquire(t.Context(), "job", lock.TTL(longTTL))
		},
		"a reader": func(t *testing.T, l *engine.Engine) (extender, error) {
			shared, err := rwlock.New(l, "job")
			must(t, err)
			return shared.RLock(t.Context(), lock.TTL(longTTL))
		},
		"a permit": func(t *testing.T, l *engine.Engine) (extender, error) {
			pool, err := semaphore.New(l, "job", 2)
			must(t, err)
			return pool.Acquire(t.Context(), lock.TTL(longTTL))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startNodes(t, 1)
			lease, err := take(t, f.alone([]int{0}))
			must(t, err)
			must(t, lease.Extend(t.Context()))
			must(t, f.admin[0].Set(t.Context(), guard.MarkerKey, "voting|1:60000:0123456789ab|process|0", 0).Err())
			must(t, lease.Extend(t.Context())) // another caller's set of one: as before

			must(t, f.admin[0].Set(t.Context(), guard.MarkerKey, "quarantine|3:60000:0123456789ab|process|0|new.1|60602|0|0",
				0).Err())
			wantText(t, lease.Extend(t.Context()), "this node votes for a set of 3 nodes, you named 1")
			must(t, f.admin[0].Del(t.Context(), f.lockKeys(t)...).Err())
			wantErr(t, lease.Extend(t.Context()), redlock.ErrOtherConfiguration)
			if back := f.lockKeys(t); len(back) > 0 {
				t.Errorf("put back: %q", back)
			}
		})
	}
}

// extender is a lease or a permit.
type extender interface {
	Extend(ctx context.Context) error
}

func (f *realNodes) lockKeys(t *testing.T) []string {
	t.Helper()
	keys, err := f.admin[0].Keys(t.Context(), "lock:*").Result()
	must(t, err)
	return keys
}

// TestRealChangeToASetOfOne: the nodes that left may have granted a lease that is valid. A node waits for the end of
// these leases although a set of one needs no quarantine otherwise.
func TestRealChangeToASetOfOne(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	f.vouchForAll()
	holder := acquire(t, guardedLocker(t, f.clients(), lock.WithNodeTimeout(patience)), "job", lock.TTL(longTTL),
		lock.NoRenew())
	must(t, f.admin[0].Del(t.Context(), "lock:job").Err()) // as if two of three had granted it
	options := []lock.Option{lock.WithNodeTimeout(patience), lock.WithMaxTTL(longTTL)}
	_, err := redlock.Reconfigure(t.Context(), redlock.Configuration{Nodes: f.clients()},
		redlock.Configuration{Nodes: f.clients()[:1], Options: options})
	must(t, err)
	one := f.alone([]int{0}, options...)
	for range 2 {
		lease, err := one.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		if err == nil {
			t.Fatalf("granted with fence %d while another lease is valid for %v", lease.Fence(), holder.Remaining())
		}
		wantErr(t, err, driver.ErrQuarantined)
	}
	// As after the quarantine of a minute.
	marker := f.admin[0].Get(t.Context(), guard.MarkerKey).Val()
	must(t, f.admin[0].Set(t.Context(), guard.MarkerKey, "voting|"+strings.Join(strings.Split(marker, "|")[1:4], "|"), 0).Err())
	var refused error
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(refused)
		}
	})
	eventually(t, settleTime, "it votes after its quarantine", func() bool {
		lease, err := one.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		if refused = err; err == nil {
			must(t, lease.Release(t.Context()))
		}
		return err == nil
	})
}
