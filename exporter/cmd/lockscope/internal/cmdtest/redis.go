package cmdtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter"
	"github.com/lockscope/lockscope/exporter/live"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/lockset"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Locks takes a lock as a service with the default guard does.
func Locks(t testing.TB, servers ...*redisproc.Server) error {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, "redis://"+s.Addr())
	}
	l, err := redlock.Open(urls, lock.WithNodeTimeout(2*time.Second))
	Must(t, err)
	defer func() { Must(t, l.Close()) }()
	return lock.Do(t.Context(), l, "order:1001", func(context.Context, lock.Lease) error { return nil }, lock.NoWait())
}

// LockingProcess is an engine that list shows as a process with this name.
func LockingProcess(t testing.TB, name string, servers []*redisproc.Server, opts ...lock.Option) *engine.Engine {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		clients = append(clients, Admin(t, s))
	}
	l, err := redlock.New(clients, append(opts, lock.WithInstance(name), lock.WithCallSites(),
		redlock.WithRestartQuarantine(0), lock.WithNodeTimeout(time.Second))...)
	Must(t, err)
	t.Cleanup(func() { Must(t, l.Close()) })
	return l
}

// Paged is a process with a live page, whose address its records on the nodes have.
func Paged(t testing.TB, name string, servers []*redisproc.Server) (locker lock.Locker, page string) {
	t.Helper()
	board, err := live.New(live.WithInstance(name))
	Must(t, err)
	e, err := exporter.New(exporter.WithState(board))
	Must(t, err)
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	t.Cleanup(e.Drain)
	page = s.URL + "/debug/locks"
	locker, err = board.Wrap(LockingProcess(t, name, servers, lock.WithPage(page)))
	Must(t, err)
	return locker, page
}

// Admin is a client that may do everything. It waits as long as a busy machine may take.
func Admin(t testing.TB, s *redisproc.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), DisableIdentity: true, MaxRetries: -1,
		DialTimeout: time.Minute, ReadTimeout: time.Minute, WriteTimeout: time.Minute})
	t.Cleanup(func() { Must(t, c.Close()) })
	return c
}

// Set writes a key; with a ttl of 0 it never expires.
func Set(t testing.TB, c redis.Cmdable, key, value string, ttl time.Duration) {
	t.Helper()
	Must(t, c.Set(t.Context(), key, value, ttl).Err())
}

// SetReader makes a reader of a lock, and returns its token, which is a secret. Its time ends after left, which may be
// in the past. With a ttl of 0 the key never expires.
func SetReader(t testing.TB, c redis.Cmdable, key string, left, ttl time.Duration) (token string) {
	t.Helper()
	token = fmt.Sprintf("%x", sha256.Sum256([]byte(key)))[:32]
	value := fmt.Sprintf("%d:17|worker-7/42|%d||a.1|||read", time.Now().Add(left).UnixMilli(),
		time.Now().Add(-time.Minute).UnixMilli())
	Must(t, c.HSet(t.Context(), key, token, value).Err())
	if ttl > 0 {
		Must(t, c.PExpire(t.Context(), key, ttl).Err())
	}
	return token
}

// VouchFor lets new servers vote at once.
func VouchFor(t testing.TB, servers ...*redisproc.Server) {
	t.Helper()
	var clients []redis.UniversalClient
	for _, s := range servers {
		clients = append(clients, Admin(t, s))
	}
	Must(t, redlock.Vouch(t.Context(), clients))
}

// Addrs is the value of --redis that names these servers.
func Addrs(servers ...*redisproc.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Addr())
	}
	return strings.Join(all, ",")
}

// Ours is a value as package redlock writes it; its token is a secret.
const (
	SecretToken = "00112233445566778899aabbccddeeff"
	Ours        = SecretToken + ":1763000000000001|worker-7/42|1763000000000||"
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
	ctx, waits := untilTheEnd(t)
	ttl := lock.TTL(time.Minute)
	slot := lock.Slots(3)
	hold := func(p lock.Locker, resource string, opts ...lock.AcquireOption) context.Context {
		lease, err := p.Acquire(ctx, resource, append(opts, ttl)...)
		Must(t, err)
		return lease.Context()
	}
	wait := func(of context.Context, p lock.Locker, resource string, opts ...lock.AcquireOption) {
		waits.Go(func() { waitWith(of, p, resource, append(opts, ttl)...) })
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
	ctx, waits := untilTheEnd(t)
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
	waits.Go(func() { waitWith(stock.Context(), p2, "prices", as(lock.KindWrite), ttl) })
	if deadlock {
		waits.Go(func() { waitWith(first.Context(), p1, "stock", ttl) })
	}
}

// untilTheEnd returns a context and the goroutines that use it. The end of the test ends both.
func untilTheEnd(t testing.TB) (context.Context, *sync.WaitGroup) {
	ctx, end := context.WithCancel(t.Context())
	waits := new(sync.WaitGroup)
	t.Cleanup(func() { end(); waits.Wait() })
	return ctx, waits
}

// waitWith waits for a resource until ctx ends, also where a busy machine lets the nodes miss their timeout.
func waitWith(ctx context.Context, l lock.Locker, resource string, opts ...lock.AcquireOption) {
	for ctx.Err() == nil {
		if _, err := l.Acquire(ctx, resource, opts...); !errors.Is(err, lock.ErrNoQuorum) {
			return
		}
	}
}

// Silent forwards nothing that clients say to a server, until Midway.
func Silent(t testing.TB, addr string) *netfault.Proxy {
	t.Helper()
	p, err := netfault.Listen(addr)
	Must(t, err)
	t.Cleanup(func() { Must(t, p.Close()) })
	p.Hold()
	return p
}

// Midway has the server answer some requests, one after the other, and no more: it hangs in the middle of a look.
func Midway(t testing.TB, p *netfault.Proxy, requests int) {
	t.Helper()
	for range requests {
		Eventually(t, "a request", func() bool { return p.Held() > 0 })
		p.Flow()
		p.Hold()
	}
	Eventually(t, "a request that nobody answers", func() bool { return p.Held() > 0 })
}
