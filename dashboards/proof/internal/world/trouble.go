package world

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

const (
	// maxHold is the limit of lockscope serve for how long a lock may be held.
	maxHold = 8 * time.Second

	impatience = 100 * time.Millisecond
	workTime   = 700 * time.Millisecond // longer than longWait, and longer than a third of the TTL
	overtime   = 300 * time.Millisecond
	respite    = 100 * time.Millisecond
	trialLimit = 5 * time.Second
)

// suffer goes from one fault to the next until ctx ends. The metrics show the results; errors are intended.
func (b *billing) suffer(ctx context.Context) {
	for ctx.Err() == nil {
		for _, trouble := range []func(context.Context){b.loseLease, b.loseAtRelease, b.contend, b.overstay} {
			trial, cancel := context.WithTimeout(ctx, trialLimit)
			trouble(trial)
			cancel()
			wait(ctx, nil, respite)
		}
	}
}

// loseLease makes the nodes forget a lease in use.
func (b *billing) loseLease(ctx context.Context) {
	b.hold(ctx, b.first, func(lease lock.Lease) {
		b.forget(ctx)
		wait(ctx, lease.Context().Done(), billingTTL)
	})
}

// loseAtRelease makes them forget it just before its release.
func (b *billing) loseAtRelease(ctx context.Context) {
	b.hold(ctx, b.first, func(lock.Lease) { b.forget(ctx) })
}

// contend lets callers meet a held lock: one does not wait, one waits shortly, one leaves, and one waits for long.
func (b *billing) contend(ctx context.Context) {
	b.hold(ctx, b.first, func(lease lock.Lease) {
		gone, leave := context.WithTimeout(ctx, impatience)
		defer leave()
		var callers sync.WaitGroup
		callers.Go(func() { b.hold(ctx, b.second, nothing, lock.NoWait()) })
		callers.Go(func() { b.hold(ctx, b.second, nothing, lock.MaxWait(impatience)) })
		callers.Go(func() { b.hold(gone, b.second, nothing) })
		callers.Go(func() {
			wait(ctx, lease.Context().Done(), workTime)
			_ = lease.Release(ctx)
		})
		b.hold(ctx, b.second, nothing, lock.MaxWait(trialLimit))
		callers.Wait()
	})
}

// overstay works longer than allowed.
func (b *billing) overstay(ctx context.Context) {
	b.hold(ctx, b.first, func(lease lock.Lease) { wait(ctx, lease.Context().Done(), billingTTL) },
		lock.MaxHold(overtime))
}

// closeMonth holds a lock until it is lost, and acquires it again.
func (b *billing) closeMonth(ctx context.Context) {
	for ctx.Err() == nil {
		lease, err := b.second.Acquire(ctx, closing)
		if err == nil {
			wait(ctx, lease.Context().Done(), time.Hour)
			_ = lease.Release(context.WithoutCancel(ctx))
		}
		wait(ctx, nil, respite)
	}
}

// print holds an invoice at every moment, so that its resource always has a holder. It releases it sooner than the
// scanner's limit for long holds.
func (b *billing) print(ctx context.Context) {
	for ctx.Err() == nil {
		lease, err := b.second.Acquire(ctx, printed)
		if err != nil {
			wait(ctx, nil, respite)
			continue
		}
		wait(ctx, lease.Context().Done(), maxHold/2)
		_ = lease.Release(context.WithoutCancel(ctx))
	}
}

func nothing(lock.Lease) {}

// hold runs f with the invoice locked, if it can.
func (b *billing) hold(ctx context.Context, l lock.Locker, do func(lock.Lease), opts ...lock.AcquireOption) {
	lease, err := l.Acquire(ctx, invoice, append([]lock.AcquireOption{lock.TTL(billingTTL)}, opts...)...)
	if err != nil {
		return
	}
	do(lease)
	_ = lease.Release(context.WithoutCancel(ctx))
}

// forget deletes the lock on every node that answers.
func (b *billing) forget(ctx context.Context) {
	var nodes sync.WaitGroup
	for _, c := range b.admins {
		nodes.Go(func() { _ = c.Del(ctx, lock.DefaultPrefix+invoice).Err() })
	}
	nodes.Wait()
}

// wait returns after d, or when ctx or done ends.
func wait(ctx context.Context, done <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	case <-ctx.Done():
	}
}
