package compare

import (
	"context"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// Constructs returns peers for [Pairs] that show what a reader, a writer and a permit of a semaphore cost
// beside a lock, which is the first. All use the Locker that newLocker makes.
func Constructs(newLocker func(b *testing.B, servers []string) lock.Locker) []Peer {
	var locker lock.Locker
	peer := func(name string, pair func(b *testing.B, l lock.Locker) Pair) Peer {
		return Peer{Name: name, Client: func(b *testing.B, servers []string) Pair {
			if locker == nil {
				locker = newLocker(b, servers)
			}
			return pair(b, locker)
		}}
	}
	return []Peer{
		peer("lock", func(_ *testing.B, l lock.Locker) Pair {
			return pairOf(func(ctx context.Context, resource string) (lock.Lease, error) {
				return l.Acquire(ctx, resource+" lock")
			})
		}),
		peer("reader", func(b *testing.B, l lock.Locker) Pair { return pairOf(sideOf(b, l).reader) }),
		peer("writer", func(b *testing.B, l lock.Locker) Pair { return pairOf(sideOf(b, l).writer) }),
		peer("permit", permitPair),
	}
}

// pairOf acquires and releases a lease.
func pairOf(acquire func(ctx context.Context, resource string) (lock.Lease, error)) Pair {
	return func(resource string, work func()) error {
		lease, err := acquire(context.Background(), resource)
		if err != nil {
			return err
		}
		work()
		return lease.Release(context.Background())
	}
}

// side is a read/write lock to be measured.
type side struct{ lock *rwlock.RWLock }

func sideOf(b *testing.B, l lock.Locker) side {
	b.Helper()
	rw, err := rwlock.New(l, "shared")
	if err != nil {
		b.Fatal(err)
	}
	return side{rw}
}

func (s side) reader(ctx context.Context, _ string) (lock.Lease, error) { return s.lock.RLock(ctx) }

func (s side) writer(ctx context.Context, _ string) (lock.Lease, error) { return s.lock.Lock(ctx) }

func permitPair(b *testing.B, l lock.Locker) Pair {
	b.Helper()
	s, err := semaphore.New(l, "permits", 5)
	if err != nil {
		b.Fatal(err)
	}
	return func(_ string, work func()) error {
		p, err := s.Acquire(context.Background())
		if err != nil {
			return err
		}
		work()
		return p.Release(context.Background())
	}
}
