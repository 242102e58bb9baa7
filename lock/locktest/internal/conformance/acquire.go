package conformance

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
)

func (s Suite) testAcquire(t *testing.T) {
	s.run(t, "excludes others", (*subtest).excludesOthers)
	s.run(t, "serves a hundred goroutines", (*subtest).servesMany)
	s.run(t, "resources are independent", (*subtest).resourcesAreIndependent)
	s.run(t, "NoWait says held at once", (*subtest).noWait)
	s.run(t, "HeldError describes the holder", (*subtest).heldError)
	s.run(t, "fences increase", (*subtest).fencesIncrease)
	s.run(t, "refuses bad resources", (*subtest).badResources)
	s.run(t, "refuses bad options", (*subtest).badOptions)
	s.run(t, "refuses an ended context", (*subtest).endedContext)
}

// excludesOthers counts without synchronisation but the lock's: the race detector
// sees if that is not enough within a process, the sum if it is not across lockers.
func (c *subtest) excludesOthers() {
	const lockers, rounds = 3, 5
	counter, inside := 0, make(chan struct{}, 1)
	var all sync.WaitGroup
	var mu sync.Mutex // orders memory between lockers, as a remote store would
	for range lockers {
		l := c.locker()
		all.Go(func() {
			for range rounds {
				lease, err := l.Acquire(c.context(), c.resource)
				if err != nil {
					c.Error(err)
					return
				}
				select {
				case inside <- struct{}{}:
				default:
					c.Error("two hold the lock at a time")
				}
				mu.Lock()
				seen := counter
				mu.Unlock()
				time.Sleep(time.Millisecond)
				mu.Lock()
				counter = seen + 1
				mu.Unlock()
				<-inside
				if err := lease.Release(c.context()); err != nil {
					c.Error(err)
				}
			}
		})
	}
	all.Wait()
	if counter != lockers*rounds && !c.Failed() {
		c.Errorf("%d of %d updates were lost", lockers*rounds-counter, lockers*rounds)
	}
}

func (c *subtest) servesMany() {
	const goroutines = 100
	l, counter := c.locker(), 0
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			err := lock.Do(c.context(), l, c.resource, func(context.Context, lock.Lease) error {
				counter++ // the lock is all that keeps the race detector quiet
				return nil
			})
			if err != nil {
				c.Error(err)
			}
		})
	}
	all.Wait()
	if counter != goroutines {
		c.Errorf("%d of %d goroutines were served", counter, goroutines)
	}
}

func (c *subtest) resourcesAreIndependent() {
	l := c.locker()
	lease := c.acquire(l)
	other, err := l.Acquire(c.context(), c.resource+"/other", lock.NoWait())
	if err != nil {
		c.Fatalf("another resource: %v", err)
	}
	c.release(other)
	c.release(lease)
}

func (c *subtest) noWait() {
	lease := c.acquire(c.locker())
	for _, l := range []lock.Locker{c.locker(), c.locker()} {
		c.within(c.soon(), "NoWait", func() {
			_, err := c.asked(l)
			c.wantErr("NoWait on a held resource", err, lock.ErrHeld)
		})
	}
	c.release(lease)
	c.wantFree(c.locker())
}

func (c *subtest) heldError() {
	const ttl = 10 * time.Second
	before := time.Now().Add(-time.Millisecond).Truncate(time.Millisecond)
	lease := c.acquire(c.locker(), lock.TTL(ttl))
	_, err := c.asked(c.locker())
	var held *lock.HeldError
	if !errors.As(err, &held) {
		c.Fatalf("error %v; a *HeldError expected", err)
	}
	if held.Resource != c.resource {
		c.Errorf("Resource %q; %q expected", held.Resource, c.resource)
	}
	if c.NoHolders {
		c.release(lease)
		return
	}
	if held.Holder.Instance == "" {
		c.Error("the holder's instance is missing")
	}
	if since := held.Holder.Since; since.Before(before) || since.After(time.Now()) {
		c.Errorf("held since %v; between %v and now expected", since, before)
	}
	if held.Remaining <= 0 || held.Remaining > ttl {
		c.Errorf("Remaining %v; between 0 and %v expected", held.Remaining, ttl)
	}
	c.release(lease)
}

func (c *subtest) fencesIncrease() {
	lockers, last := []lock.Locker{c.locker(), c.locker(), c.locker()}, uint64(0)
	for i := range 12 {
		lease := c.acquire(lockers[i%len(lockers)])
		c.wantNewer(lease.Fence(), last)
		last = lease.Fence()
		c.release(lease)
	}
}

func (c *subtest) badResources() {
	l := c.locker()
	for _, name := range []string{"", "a{b}", "}", "line\nbreak", "\x00", "\x7f", "\u009b2J", "\u202ex", "\xff",
		strings.Repeat("x", lock.MaxResourceLength+1)} {
		_, err := l.Acquire(c.context(), name)
		c.wantErr("resource "+name, err, lock.ErrInvalidResource)
	}
	for _, name := range []string{"ß / ü", "a:b|c*?[d]", strings.Repeat("y", lock.MaxResourceLength)} {
		lease, err := l.Acquire(c.context(), name)
		if err != nil {
			c.Fatalf("resource %q: %v", name, err)
		}
		if lease.Resource() != name {
			c.Errorf("Resource() = %q; %q expected", lease.Resource(), name)
		}
		c.release(lease)
	}
}

func (c *subtest) badOptions() {
	l := c.locker()
	for _, ttl := range []time.Duration{0, -time.Second, 1 << 62} {
		_, err := l.Acquire(c.context(), c.resource, lock.TTL(ttl))
		c.wantErr("TTL "+ttl.String(), err, lock.ErrInvalidTTL)
	}
	for name, opt := range map[string]lock.AcquireOption{
		"MaxWait(-1)": lock.MaxWait(-1), "MaxAttempts(-1)": lock.MaxAttempts(-1), "MaxHold(0)": lock.MaxHold(0),
		"MinHold(-1)": lock.MinHold(-1), "MinHold above MaxTTL": lock.MinHold(31 * 24 * time.Hour),
	} {
		_, err := l.Acquire(c.context(), c.resource, opt)
		c.wantErr(name, err, lock.ErrInvalidOption)
	}
	c.wantFree(l)
}

func (c *subtest) endedContext() {
	ctx, cancel := context.WithCancel(c.context())
	cancel()
	_, err := c.locker().Acquire(ctx, c.resource)
	c.wantErr("Acquire with a cancelled context", err, context.Canceled)
	c.wantFree(c.locker())
}
