package rwlock_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// TestCallSite is the line of the caller, for readers and for the writer.
func TestCallSite(t *testing.T) {
	type call func(*rwlock.RWLock, context.Context, ...lock.AcquireOption) (lock.Lease, error)
	for name, acquire := range map[string]call{
		"reads":  (*rwlock.RWLock).RLock,
		"tries":  (*rwlock.RWLock).TryRLock,
		"writes": (*rwlock.RWLock).Lock,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 1)
			lease, err := acquire(f.process(name, lock.WithCallSites()), t.Context())
			must(t, err)
			_, err = f.process("asks").TryLock(t.Context())
			held, ok := errors.AsType[*lock.HeldError](err)
			if !ok {
				t.Fatal(err)
			}
			site := held.Holder.CallSite
			if !regexp.MustCompile(`^rwlock/callsite_test\.go:\d+$`).MatchString(site) {
				t.Errorf("call site %q of a process that %s", site, name)
			}
			must(t, lease.Release(t.Context()))
		})
	}
}
