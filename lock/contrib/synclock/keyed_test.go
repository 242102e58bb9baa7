package synclock_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/synclock"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestKeyed: one goroutine of two processes is inside for each key, and keys do not wait for each other.
func TestKeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		inside := map[string]*peak{"a": {}, "b": {}}
		var work sync.WaitGroup
		for range 2 {
			k := synclock.NewKeyed(process(t, nodes))
			for key, p := range inside {
				for range 3 {
					work.Go(func() {
						must(t, k.Lock(t.Context(), key))
						p.add(1)
						time.Sleep(time.Second)
						p.add(-1)
						must(t, k.Unlock(key))
					})
				}
			}
		}
		began := time.Now()
		work.Wait()
		for key, p := range inside {
			if p.max != 1 {
				t.Errorf("%d were inside at once for %s", p.max, key)
			}
		}
		if took := time.Since(began); took < 6*time.Second || took > 9*time.Second {
			t.Errorf("six seconds of work for each key took %v", took)
		}
	})
}

// TestKeyedIsNotHeld: to unlock what nobody has is an error, also while others wait for the key, and a wait that ends
// leaves nothing.
func TestKeyedIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		mine, other := process(t, nodes), process(t, nodes)
		k := synclock.NewKeyed(mine)
		held, err := other.Acquire(t.Context(), "a")
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		waited := make(chan error, 1)
		go func() { waited <- k.Lock(ctx, "a") }()
		synctest.Wait()
		for _, key := range []string{"a", "b"} {
			if err := k.Unlock(key); !errors.Is(err, lock.ErrNotHeld) {
				t.Errorf("unlock of %s: %v", key, err)
			}
			if !errors.Is(context.Cause(k.Context(key)), lock.ErrNotHeld) {
				t.Errorf("the context of %s: %v", key, context.Cause(k.Context(key)))
			}
		}
		if err := <-waited; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait that ends: %v", err)
		}
		must(t, held.Release(t.Context()))
		must(t, k.Lock(t.Context(), "a"))
		must(t, k.Context("a").Err())
		must(t, mine.Lose("a"))
		synctest.Wait()
		if err := k.Unlock("a"); !errors.Is(err, lock.ErrLost) {
			t.Errorf("a lease that was lost: %v", err)
		}
		if err := k.Lock(t.Context(), "not {allowed}"); !errors.Is(err, lock.ErrInvalidResource) {
			t.Error(err)
		}
	})
}
