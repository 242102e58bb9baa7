package certmagiclock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/lockscope/lockscope/lock"
)

var errCA = errors.New("the CA is busy")

// TestOnce: five processes need a certificate at the same time. One obtains it, and the others use it.
func TestOnce(t *testing.T) {
	for name, c := range map[string]struct {
		wrap   func(certmagic.Storage, lock.Locker) certmagic.Storage
		issued int32
	}{
		"this package's locks": {ours, 1},
		"no locks (bad)":       {func(s certmagic.Storage, _ lock.Locker) certmagic.Storage { return unlocked{s} }, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				done := make(chan error)
				for range 5 {
					config, _ := f.process(t, c.wrap, func(context.Context) error { <-time.After(time.Minute); return nil })
					go func() { done <- config.ObtainCertSync(t.Context(), site) }()
				}
				for range 5 {
					must(t, <-done)
				}
				if f.issued.Load() != c.issued || (f.overlaps.Load() > 0) != (c.issued > 1) {
					t.Errorf("%d issued, %d overlaps", f.issued.Load(), f.overlaps.Load())
				}
			})
		})
	}
}

type unlocked struct{ certmagic.Storage }

func (unlocked) Lock(context.Context, string) error   { return nil }
func (unlocked) Unlock(context.Context, string) error { return nil }

// TestContextEnds: the context of a process ends while it asks the CA. It keeps the lock until it has undone that.
func TestContextEnds(t *testing.T) {
	for name, c := range map[string]struct {
		wrap     func(certmagic.Storage, lock.Locker) certmagic.Storage
		overlaps int32
	}{
		"this package's locks":                 {ours, 0},
		"locks that hang on the context (bad)": {naive, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				ctx, cancel := context.WithCancel(t.Context())
				asking := make(chan struct{})
				first, _ := f.process(t, c.wrap, func(ctx context.Context) error {
					close(asking)
					<-ctx.Done()
					<-time.After(time.Minute) // it cancels the order
					return ctx.Err()
				})
				second, _ := f.process(t, c.wrap, nil)
				done := make(chan error)
				go func() { done <- first.ObtainCertSync(ctx, site) }()
				<-asking
				cancel()
				must(t, second.ObtainCertSync(t.Context(), site))
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("the first: %v", err)
				}
				if f.overlaps.Load() != c.overlaps {
					t.Errorf("%d overlaps", f.overlaps.Load())
				}
			})
		})
	}
}

// TestLostBetweenAttempts: a process that has lost its lock does not try again beside another one. Later it takes the
// lock again.
func TestLostBetweenAttempts(t *testing.T) {
	for name, c := range map[string]struct {
		wrap     func(certmagic.Storage, lock.Locker) certmagic.Storage
		overlaps int32
	}{
		"this package's locks": {ours, 0},
		"locks that certmagic cannot renew (bad)": {func(s certmagic.Storage, l lock.Locker) certmagic.Storage {
			return locksOnly{s, ours(s, l)}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				attempts, asking := 0, make(chan struct{})
				lose := func(context.Context) error { return nil }
				first, locker := f.process(t, c.wrap, func(ctx context.Context) error {
					if attempts++; attempts == 1 {
						close(asking)
						return lose(ctx)
					}
					return nil
				})
				lose = func(context.Context) error { return errors.Join(locker.Lose(siteLock), errCA) }
				second, _ := f.process(t, c.wrap, func(context.Context) error { <-time.After(90 * time.Second); return errCA })
				done := make(chan error)
				go func() { done <- first.ObtainCertAsync(t.Context(), site) }()
				<-asking
				if err := second.ObtainCertSync(t.Context(), site); !errors.Is(err, errCA) {
					t.Errorf("the second: %v", err)
				}
				must(t, <-done)
				if f.overlaps.Load() != c.overlaps || attempts != 2 || f.issued.Load() != 1 {
					t.Errorf("%d overlaps, %d attempts, %d issued", f.overlaps.Load(), attempts, f.issued.Load())
				}
			})
		})
	}
}

// locksOnly hides the optional methods of the locks.
type locksOnly struct {
	certmagic.Storage
	certmagic.Locker
}

func (l locksOnly) Lock(ctx context.Context, name string) error   { return l.Locker.Lock(ctx, name) }
func (l locksOnly) Unlock(ctx context.Context, name string) error { return l.Locker.Unlock(ctx, name) }
