package redlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

var swapReaders = engine.RevokeRequest{By: "ops@host", Reason: "disk swap", Readers: true}

func reading(t *testing.T, l lock.Locker, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	rw, err := rwlock.New(l, "job")
	must(t, err)
	lease, err := rw.RLock(t.Context(), opts...)
	must(t, err)
	return lease
}

// writes acquires "job" as a writer in a goroutine of its own.
func writes(t *testing.T, l lock.Locker) <-chan grant {
	t.Helper()
	return acquireAsync(t.Context(), l, "job", lock.TTL(longTTL), lock.MaxWait(waitTime),
		lock.InMode(lock.ModeWrite))
}

// TestRealRevokeReaders: readers that are renewed end, and only then a writer that waits gets the lock, although no
// reader releases it. One of five nodes hangs meanwhile, is gone, or is flushed after it has named the readers. Two
// others may not have granted them: a writer must not get those and the one that has forgotten.
func TestRealRevokeReaders(t *testing.T) {
	t.Parallel()
	flush := func(f *realNodes) { f.admin[4].FlushAll(context.Background()) }
	for name, c := range map[string]struct {
		refused        []int // nodes that the readers do not reach
		before, during func(*realNodes)
	}{
		"all answer":                 {},
		"one hangs":                  {before: func(f *realNodes) { f.pause(4) }},
		"one died":                   {before: func(f *realNodes) { f.kill(4) }},
		"one flushed":                {during: flush},
		"one flushed of three votes": {refused: []int{2, 3}, during: flush},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startNodes(t, 5)
			const ttl = 6 * time.Second // long enough for a round of renewal on a busy machine
			f.vouchForAll()
			clients := f.clients()
			for _, i := range c.refused {
				proxy := proxyTo(t, f.servers[i])
				proxy.Refuse(true)
				clients[i] = plainClient(t, &redis.Options{Addr: proxy.Addr()})
			}
			guarded := []lock.Option{redlock.WithRestartQuarantine(longTTL), f.named()}
			readers := []lock.Lease{
				reading(t, newLocker(t, clients, guarded...), lock.TTL(ttl)),
				reading(t, newLocker(t, clients, guarded...), lock.TTL(ttl)),
			}
			if c.before != nil {
				c.before(f)
			}
			t.Cleanup(func() {
				if name == "one hangs" {
					f.resume(4)
				}
			})
			waiting := writes(t, f.locker(guarded...))
			req := swapReaders
			req.Confirm = func([]lock.Sighting) error {
				if c.during != nil {
					c.during(f)
				}
				return nil
			}
			r := revokeReaders(t, f.locker(guarded...), req, len(readers))
			if r.Marked < 3 || r.Nodes != 5 || r.FreeIn > ttl {
				t.Errorf("%+v", r)
			}
			got := <-waiting
			must(t, got.err)
			for _, lease := range readers {
				if lease.Context().Err() == nil || lease.Remaining() > 0 {
					t.Errorf("a reader is valid beside a writer: %v is left", lease.Remaining())
				}
				wantRevoked(t, lease)
			}
			must(t, got.lease.Release(t.Context()))
		})
	}
}

// revokeReaders revokes the readers of "job" once so many are known: a busy machine may not answer in time.
func revokeReaders(
	t *testing.T, l *engine.Engine, req engine.RevokeRequest, least int,
) (r engine.Revocation) {
	t.Helper()
	confirm, few := req.Confirm, errors.New("few readers")
	req.Confirm = func(seen []lock.Sighting) error {
		if len(seen) < least {
			return few
		}
		if confirm != nil {
			return confirm(seen)
		}
		return nil
	}
	eventually(t, waitTime, "the readers are revoked", func() (done bool) {
		var err error
		r, err = l.Revoke(t.Context(), "job", req)
		if err != nil && !errors.Is(err, few) && !errors.Is(err, lock.ErrNoQuorum) && !errors.Is(err, lock.ErrNotHeld) {
			t.Fatal(err)
		}
		return err == nil
	})
	return r
}

// TestRealRevokeReadersTwice: the second revoke returns the mark of the first and marks who came since. The keys of the
// readers stay as they are, and a later reader has a lease like any other.
func TestRealRevokeReadersTwice(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 1)
	operator := f.locker(lock.WithNodeTimeout(patience))
	_, err := operator.Revoke(t.Context(), "job", swapReaders)
	wantErr(t, err, lock.ErrNotHeld)
	service := f.locker(lock.WithNodeTimeout(patience), lock.WithInstance("web-1"))
	lease := reading(t, service, lock.TTL(longTTL), lock.NoRenew())
	value := f.admin[0].HGetAll(t.Context(), "lock:job").Val()
	first, err := operator.Revoke(t.Context(), "job", swapReaders)
	must(t, err)
	if after := f.admin[0].HGetAll(t.Context(), "lock:job").Val(); len(after) != 1 || len(value) != 1 ||
		lease.Context().Err() != nil {
		t.Errorf("the readers were %q and are %q; the lease: %v", value, after, context.Cause(lease.Context()))
	}
	since := reading(t, service, lock.TTL(longTTL), lock.NoRenew())
	again, err := operator.Revoke(t.Context(), "job", engine.RevokeRequest{By: "another", Reason: "impatience", Readers: true})
	must(t, err)
	if len(again.Holders) != 2 || !again.Holders[0].Again || again.Holders[0].Mark != first.Holders[0].Mark ||
		again.Holders[1].Again || again.Holders[1].Holder.Instance != "web-1" || again.FreeIn <= 0 {
		t.Errorf("%+v, then %+v", first, again)
	}
	for _, reader := range []lock.Lease{lease, since} {
		wantErr(t, reader.Extend(t.Context()), lock.ErrLost)
		must(t, reader.Release(t.Context()))
	}
	wantRevoked(t, lease)
	next := reading(t, service, lock.TTL(longTTL))
	must(t, next.Extend(t.Context()))
	must(t, next.Release(t.Context()))
	_, err = operator.Revoke(t.Context(), "job", swapReaders)
	wantErr(t, err, lock.ErrNotHeld)
}

// TestRealRevokedReaderArrivesLate: one node gets the acquire of a reader after its mark, and does not grant it.
func TestRealRevokedReaderArrivesLate(t *testing.T) {
	t.Parallel()
	f := startNodes(t, 3)
	proxy := proxyTo(t, f.servers[2])
	service := newLocker(t, f.through(proxy, 2), f.named())
	f.warm(service)
	proxy.Hold()
	lease := reading(t, service, lock.TTL(longTTL), lock.NoRenew())
	eventually(t, settleTime, "the acquire is held on its way", func() bool { return proxy.Held() > 0 })
	r := revokeReaders(t, newLocker(t, f.clients(), f.named(), lock.WithNodeTimeout(patience)), swapReaders, 1)
	if r.Marked != 3 {
		t.Errorf("%+v", r)
	}
	proxy.Flow()
	eventually(t, settleTime, "the acquire has arrived", func() bool { return proxy.Held() == 0 })
	f.settled(2)
	if keys := f.keys("lock:job", 2); len(keys) > 0 {
		t.Errorf("a revoked reader was granted late: %q", keys)
	}
	wantErr(t, lease.Extend(t.Context()), lock.ErrLost)
	wantRevoked(t, lease)
}
