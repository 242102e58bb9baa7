package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
)

const (
	elected = "accountant"
	twins   = "twins" // an election that two processes win, because they lock under different prefixes
	gate    = "gate"  // a semaphore
	slots   = 2
	term    = 3 * time.Second
)

// constructs are two processes that elect a leader, and share a semaphore and a read/write lock.
type constructs struct{ services [2]*service }

// startConstructs makes them faulty if minutes are short: two terms at once, a semaphore that stays full, and a reader
// that keeps a writer waiting.
func (w *World) startConstructs(context.Context) error {
	faulty := w.cfg.Minute > 0
	c := &constructs{}
	for i := range c.services {
		registry := prometheus.NewRegistry()
		name := fmt.Sprintf("elected-%d", i+1)
		l, err := w.locker(registry, name)
		if err != nil {
			return err
		}
		elsewhere, err := w.locker(registry, name, lock.WithPrefix(fmt.Sprintf("elsewhere-%d:", i)))
		if err != nil {
			return err
		}
		share, err := c.share(l, i, regularly)
		if err != nil {
			return err
		}
		well := []func(context.Context){c.lead(l, elected, term), c.pass(l, i), share}
		loops := well
		if faulty {
			starve, err := c.share(l, i, time.Hour)
			if err != nil {
				return err
			}
			loops = []func(context.Context){c.lead(l, elected, term), c.lead(elsewhere, twins, time.Hour),
				c.occupy(l, 0), c.occupy(l, 1), starve}
		}
		if c.services[i], err = w.startService(registry, loops...); err != nil {
			return err
		}
		w.recovers = append(w.recovers, func() { c.services[i].instead(well...) })
	}
	return nil
}

// lead campaigns again and again. A leader resigns after a while.
func (c *constructs) lead(l lock.Locker, name string, lasts time.Duration) func(context.Context) {
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			err := election.Run(ctx, l, name, func(ctx context.Context, _ election.Term) error {
				wait(ctx, nil, lasts)
				return nil
			})
			if errors.Is(err, lock.ErrClosed) {
				return
			}
		}
	}
}

func slotOf(i int) string { return fmt.Sprintf("%s#%d", gate, i) }

func slotted() lock.AcquireOption { return lock.Slots(slots) }

// pass uses a slot for a moment.
func (c *constructs) pass(l lock.Locker, slot int) func(context.Context) {
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			if lease, err := l.Acquire(ctx, slotOf(slot), slotted()); err == nil {
				wait(ctx, nil, regularly)
				_ = lease.Release(context.WithoutCancel(ctx))
			}
			wait(ctx, nil, now)
		}
	}
}

// occupy keeps a slot, or waits for it.
func (c *constructs) occupy(l lock.Locker, slot int) func(context.Context) {
	return func(ctx context.Context) {
		for ctx.Err() == nil {
			lease, err := l.Acquire(ctx, slotOf(slot), slotted())
			if err != nil {
				wait(ctx, nil, now)
				continue
			}
			wait(ctx, lease.Context().Done(), time.Hour)
			_ = lease.Release(context.WithoutCancel(ctx))
		}
	}
}
