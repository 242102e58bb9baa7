package semaphore_test

import (
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestCallSiteOfAPermit is the caller's line, also if the call found the slot while it waited for another one.
func TestCallSiteOfAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, 3)
		s := newSemaphore(t, f.locker("waiter", lock.WithCallSites()), 3)
		all := f.fill(f.process("holder"))
		for _, p := range all { // in whose queue the call waits, only one of them can be
			got := make(chan *semaphore.Permit)
			go func() { got <- f.acquire(s) }()
			time.Sleep(time.Second)
			f.release(p)
			<-got
		}
		synctest.Wait() // the last node has heard of the release, too
		_, err := f.process("asks").TryAcquire(t.Context())
		full, ok := errors.AsType[*lock.FullError](err)
		if !ok || len(full.Held) != 3 {
			t.Fatal(err)
		}
		for _, held := range full.Held {
			site := held.Holder.CallSite
			if !regexp.MustCompile(`^semaphore/helpers_test\.go:\d+$`).MatchString(site) {
				t.Errorf("call site %q of %s", site, held.Resource)
			}
		}
	})
}
