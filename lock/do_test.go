package lock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

// TestDoWithoutAQuorum: the function never runs, however long Do waits, and the error says why.
func TestDoWithoutAQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		never := func(context.Context, lock.Lease) error { t.Error("it ran"); return nil }
		for _, opt := range []lock.AcquireOption{lock.NoWait(), lock.MaxWait(10 * time.Second), nil} {
			if err := lock.Do(ctx, l, "job", never, opt); !errors.Is(err, lock.ErrNoQuorum) {
				t.Error(err)
			}
		}
	})
}
