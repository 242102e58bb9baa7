package cmdtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// Constructs has three processes use an election, a set of locks and a semaphore, until the test ends.
//
//   - "leader": billing-1 leads, and waits for "stock". billing-2 has "stock" and is a candidate: a deadlock.
//     worker-3 is another candidate.
//   - "a", "b": worker-3 has both locks as a set.
//   - "jobs": two of three slots are held. worker-3 has "order" and queues for the first slot, whose holder waits for
//     "order": no deadlock, because the other slots can become free.
func Constructs(t testing.TB, servers []*redisproc.Server) {
	t.Helper()
	p1, p2, p3 := LockingProcess(t, "billing-1", servers), LockingProcess(t, "billing-2", servers),
		LockingProcess(t, "worker-3", servers)
	ctx, end := context.WithCancel(t.Context())
	var waits sync.WaitGroup
	t.Cleanup(func() { end(); waits.Wait() })
	ttl := lock.TTL(time.Minute)
	slot := lock.Slots(3)
	hold := func(p lock.Locker, resource string, opts ...lock.AcquireOption) context.Context {
		lease, err := p.Acquire(ctx, resource, append(opts, ttl)...)
		Must(t, err)
		return lease.Context()
	}
	wait := func(of context.Context, p lock.Locker, resource string, opts ...lock.AcquireOption) {
		waits.Go(func() { _, _ = p.Acquire(of, resource, append(opts, ttl)...) })
	}
	term, err := election.Campaign(ctx, p1, "leader", election.TTL(time.Minute))
	Must(t, err)
	stock := hold(p2, "stock")
	_, err = lockset.Acquire(ctx, p3, []string{"a", "b"}, ttl)
	Must(t, err)
	first, order := hold(p1, "jobs#0", slot), hold(p3, "order")
	hold(p2, "jobs#1", slot)
	for of, p := range map[context.Context]lock.Locker{stock: p2, ctx: p3} {
		campaign, stop := context.WithCancel(of)
		context.AfterFunc(ctx, stop)
		waits.Go(func() { _, _ = election.Campaign(campaign, p, "leader", election.TTL(time.Minute)) })
	}
	wait(term.Context(), p1, "stock")
	wait(order, p3, "jobs#0", slot)
	wait(first, p1, "order")
}

// ReadWrite has three processes use the read/write lock "prices", until the test ends: billing-1 and worker-3 read.
// billing-2 has "stock" and waits to write. Then billing-1, as a reader, waits for "stock" if it is to be a deadlock.
func ReadWrite(t testing.TB, servers []*redisproc.Server, deadlock bool) {
	t.Helper()
	p1, p2, p3 := LockingProcess(t, "billing-1", servers), LockingProcess(t, "billing-2", servers),
		LockingProcess(t, "worker-3", servers)
	ctx, end := context.WithCancel(t.Context())
	var waits sync.WaitGroup
	t.Cleanup(func() { end(); waits.Wait() })
	ttl := lock.TTL(time.Minute)
	as := func(k lock.Kind) lock.AcquireOption { return locktest.AsConstruct(k, 0) }
	_, err := p3.Acquire(ctx, "prices", as(lock.KindRead), ttl)
	Must(t, err)
	first, err := p1.Acquire(ctx, "prices", as(lock.KindRead), ttl)
	Must(t, err)
	// A node that the quorum did not need may get a reader later than the bar of the writer, which keeps it out for good.
	for _, server := range servers {
		c := Admin(t, server)
		Eventually(t, "both readers on each node", func() bool { return c.HLen(ctx, "lock:prices").Val() == 2 })
	}
	stock, err := p2.Acquire(ctx, "stock", ttl)
	Must(t, err)
	waits.Go(func() { _, _ = p2.Acquire(stock.Context(), "prices", as(lock.KindWrite), ttl) })
	if deadlock {
		waits.Go(func() { _, _ = p1.Acquire(first.Context(), "stock", ttl) })
	}
}
