package world

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/instrument"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/outage"
	"github.com/lockscope/lockscope/lock/redlock"
)

// Scheduled is a resource that is acquired a few times, and then not before the end of the trials. The rules must get
// its interval.
const Scheduled = "nightly-report"

const (
	forever = "legacy-import" // left behind without a TTL: every acquire fails
	queued  = "stock:1"
	crowd   = 24 // callers in that queue
	served  = 3 * time.Second
	busy    = "cart"
	seat    = "seat"
	counted = "email"

	pause      = 35 * time.Millisecond // above the limit of a slow node, below the node timeout
	pauseEvery = 100 * time.Millisecond
	often      = 5 * time.Millisecond
	now        = 50 * time.Millisecond
	regularly  = 300 * time.Millisecond
	embrace    = 30 * time.Second
)

// embraced are two locks. The holder of each waits for the other.
var embraced = [2]string{"ledger", "vault"}

// trials are services with the faults that the service in trouble does not have: queues that hardly move, a slow node,
// nodes that one process cannot reach, endless retries, deadlocks.
type trials struct {
	*service
	far         *service // a process that cannot reach two of the nodes
	unreachable atomic.Bool
	locker      lock.Locker
	hasty       lock.Locker // it polls instead of waiting for a wake-up
	cut         *service    // one that cannot reach three
	remote      lock.Locker
	stalled     lock.Locker // of cut
	slowed      *redis.Client
}

func (w *World) startTrials(ctx context.Context) error {
	t := &trials{slowed: adminOf(w.nodes[0])}
	w.ends = append(w.ends, t.slowed.Close)
	if err := w.onNodes(ctx, w.nodes, func(c *redis.Client) error {
		return c.Set(ctx, lock.DefaultPrefix+forever,
			"another library", 0).Err()
	}); err != nil {
		return err
	}
	near, far, cut := prometheus.NewRegistry(), prometheus.NewRegistry(), prometheus.NewRegistry()
	var errs [4]error
	t.locker, errs[0] = w.locker(near, "trials-1")
	t.hasty, errs[1] = w.locker(near, "trials-2", lock.WithPollInterval(often))
	t.unreachable.Store(true)
	t.remote, errs[2] = w.remote(far, t, 3, 1)
	stalled, err := w.remote(cut, t, 2, 2)
	errs[3] = err
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	loops := []func(context.Context){t.slow, t.retry, t.embrace, t.repeat(t.locker, busy, now),
		t.repeat(t.locker, forever, regularly, lock.MaxWait(impatience)),
		func(ctx context.Context) { t.lastTimes(ctx, w.cfg.Minute) }}
	for range crowd {
		loops = append(loops, t.queue)
	}
	if t.service, err = w.startService(near, loops...); err != nil {
		return err
	}
	// Two names, and one slot, which the first name takes.
	lease, err := t.remote.Acquire(ctx, counted)
	if err != nil {
		return err
	}
	_ = lease.Release(ctx)
	if t.far, err = w.startService(far, t.repeat(t.remote, counted, regularly),
		t.repeat(t.remote, "letter", regularly)); err != nil {
		return err
	}
	t.stalled = stalled
	t.cut, err = w.startService(cut, t.repeat(stalled, "parcel", regularly),
		t.repeat(outage.Wrap(stalled, stalled.Unprotected), "manifest", regularly, lock.NoWait()))
	w.trials = t
	return err
}

// remote returns a locker of a process that can reach only so many nodes until Recover, and has labels for so many names.
func (w *World) remote(registry *prometheus.Registry, t *trials, reached, names int) (*instrument.Locker, error) {
	var dialer net.Dialer
	var clients []redis.UniversalClient
	for i, n := range w.nodes {
		c := redis.NewClient(&redis.Options{Addr: n.addr,
			Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
				if i >= reached && t.unreachable.Load() {
					return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.EHOSTUNREACH}
				}
				return dialer.DialContext(ctx, network, addr)
			}})
		w.ends = append(w.ends, c.Close)
		clients = append(clients, c)
	}
	l, err := redlock.New(clients, lock.WithInstance("trials-far"))
	if err != nil {
		return nil, err
	}
	return w.measure(registry, l, instrument.WithMaxResources(names))
}

// Recover ends every fault but a freeze: it deletes leftovers, and all work succeeds again.
func (w *World) Recover(ctx context.Context) error {
	t, b := w.trials, w.bill
	t.unreachable.Store(false)
	b.instead(t.repeat(b.first, invoice, regularly))
	var loops []func(context.Context)
	for _, resource := range []string{queued, forever, Scheduled, seat, embraced[0], embraced[1]} {
		loops = append(loops, t.repeat(t.locker, resource, regularly))
	}
	t.instead(loops...)
	t.far.instead(t.repeat(t.remote, counted, regularly))
	t.cut.instead(t.repeat(t.stalled, "parcel", regularly), t.repeat(t.stalled, "manifest", regularly))
	for _, recover := range w.recovers {
		recover()
	}
	return w.onNodes(ctx, w.nodes, func(c *redis.Client) error {
		return c.Del(ctx, longKey, foreignKey, orphanKey, lock.DefaultPrefix+forever).Err()
	})
}

// repeat acquires and releases a lock, again and again.
func (t *trials) repeat(l lock.Locker, resource string, every time.Duration,
	opts ...lock.AcquireOption) func(context.Context) {
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			if lease, err := l.Acquire(ctx, resource, opts...); err == nil {
				_ = lease.Release(context.WithoutCancel(ctx))
			}
			wait(ctx, nil, every)
		}
	}
}

// lastTimes does scheduled work a few times and then never again: on a busy machine a single time might fail.
// Prometheus must have scraped before, because it does not count what happened before its first scrape.
func (t *trials) lastTimes(ctx context.Context, minute time.Duration) {
	wait(ctx, nil, 10*minute)
	for range 5 {
		if lease, err := t.locker.Acquire(ctx, Scheduled); err == nil {
			_ = lease.Release(context.WithoutCancel(ctx))
		}
		wait(ctx, nil, minute)
	}
}

// queue is a caller that keeps the others waiting.
func (t *trials) queue(ctx context.Context) {
	for ctx.Err() == nil {
		if lease, err := t.locker.Acquire(ctx, queued); err == nil {
			wait(ctx, lease.Context().Done(), served)
			_ = lease.Release(context.WithoutCancel(ctx))
		}
		wait(ctx, nil, now)
	}
}

// slow makes a node delay some of its answers.
func (t *trials) slow(ctx context.Context) {
	for ctx.Err() == nil {
		_ = t.slowed.Do(ctx, "client", "pause", pause.Milliseconds()).Err()
		wait(ctx, nil, pauseEvery)
	}
}

// retry asks for a lock that another process of the same service does not release.
func (t *trials) retry(ctx context.Context) {
	for ctx.Err() == nil {
		held, err := t.locker.Acquire(ctx, seat)
		if err != nil {
			wait(ctx, nil, regularly)
			continue
		}
		if lease, err := t.hasty.Acquire(held.Context(), seat); err == nil {
			_ = lease.Release(context.WithoutCancel(ctx))
		}
		_ = held.Release(context.WithoutCancel(ctx))
	}
}

// embrace makes two callers wait for the lock that the other one holds.
func (t *trials) embrace(ctx context.Context) {
	for ctx.Err() == nil {
		var both sync.WaitGroup
		var ready sync.WaitGroup
		ready.Add(2)
		for _, of := range [][2]string{embraced, {embraced[1], embraced[0]}} {
			both.Go(func() {
				held, err := t.locker.Acquire(ctx, of[0])
				ready.Done()
				if err != nil {
					return
				}
				ready.Wait()
				if lease, err := t.locker.Acquire(held.Context(), of[1], lock.MaxWait(embrace)); err == nil {
					_ = lease.Release(context.WithoutCancel(ctx))
				}
				_ = held.Release(context.WithoutCancel(ctx))
			})
		}
		both.Wait()
		wait(ctx, nil, respite)
	}
}
