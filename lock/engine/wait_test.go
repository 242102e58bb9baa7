package engine

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// TestWhatEndsAWait: a hint restarts the polls and says whether it names the caller. A timer continues the count of
// polls. A caller that was named too late still counts as named.
func TestWhatEndsAWait(t *testing.T) {
	for name, c := range map[string]struct {
		hint                 *wakeUp
		poll, wasNamed       bool
		inVain, polls, after int
		named                bool
	}{
		"called by name":             {hint: &wakeUp{named: true}, poll: true, polls: 3, named: true},
		"a hint":                     {hint: &wakeUp{}, poll: true, wasNamed: true, inVain: 1, polls: 3},
		"a poll":                     {poll: true, polls: 3, after: 4},
		"a time that was set":        {polls: 3},
		"named in vain, looks again": {poll: true, wasNamed: true, inVain: 1, after: 1, named: true},
		"named too often in vain":    {poll: true, wasNamed: true, after: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKept(t)
				a := k.acquisition()
				a.polls, a.namedInVain = c.polls, c.inVain
				if c.hint != nil {
					k.queue.signal(*c.hint)
				}
				if err := a.sleep(t.Context(), pause{d: time.Second, poll: c.poll}, c.wasNamed); err != nil {
					t.Fatal(err)
				}
				if a.named != c.named || a.polls != c.after {
					t.Errorf("named %v after %d polls, want %v, %d", a.named, a.polls, c.named, c.after)
				}
				k.lease.stop(lock.ErrMaxHold)
			})
		})
	}
}

// TestAWaitSaysWhoIsNext for as long as it lasts: the caller that was named, or the first of its queue.
func TestAWaitSaysWhoIsNext(t *testing.T) {
	for name, c := range map[string]struct {
		named bool
		res   result
		first bool
	}{
		"named":         {named: true, first: true},
		"first":         {res: result{ticket: 1}, first: true},
		"second":        {res: result{ticket: 1, ahead: 1}},
		"in no queue":   {},
		"named, second": {named: true, res: result{ticket: 1, ahead: 1}, first: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKept(t)
				k.engine.nodes = make([]*node, 3)
				k.engine.cfg.pollInterval, k.engine.cfg.random = time.Second, func(int64) int64 { return 0 }
				a := k.acquisition()
				a.named = c.named
				done := make(chan error)
				go func() { done <- a.wait(t.Context(), c.res) }()
				synctest.Wait()
				if got := k.queue.first.Load(); got != c.first {
					t.Errorf("while it waits: %v", got)
				}
				k.queue.signal(wakeUp{})
				if err := <-done; err != nil || k.queue.first.Load() || a.named {
					t.Errorf("after it: first %v, named %v, %v", k.queue.first.Load(), a.named, err)
				}
				k.queue.signal(wakeUp{})
				a.named = true
				if a.drainWake(); !a.named {
					t.Error("another hint takes the name away")
				}
				k.lease.stop(lock.ErrMaxHold)
			})
		})
	}
}

// TestAnExtendNeverShortens: a round that began earlier may end later.
func TestAnExtendNeverShortens(t *testing.T) {
	k := newKept(t)
	before := k.lease.Remaining()
	if !k.lease.prolong(time.Second) || k.lease.Remaining() != before {
		t.Errorf("%v left, %v before", k.lease.Remaining(), before)
	}
	if !k.lease.prolong(time.Minute) || k.lease.Remaining() != time.Minute {
		t.Errorf("%v left after a round that won", k.lease.Remaining())
	}
	k.lease.stop(lock.ErrMaxHold)
}

// TestWastedGrants: a waiter whose grant by the gate was wasted looks again, later each time, and never later than it
// would have. A retry that is due anyway is not put off. Being named counts as always.
func TestWastedGrants(t *testing.T) {
	for name, c := range map[string]struct {
		before      int
		retry       bool
		pause       time.Duration
		named       bool
		least, most time.Duration
	}{
		"first": {pause: time.Minute, least: retryNamed / 2, most: 2 * retryNamed},
		"fifth": {before: 4, pause: time.Minute, least: 8 * retryNamed, most: 32 * retryNamed},
		"many": {before: 1000, pause: time.Minute,
			least: lock.DefaultPollInterval / 2, most: 2 * lock.DefaultPollInterval},
		"short pause":  {before: 1000, pause: time.Millisecond, most: time.Millisecond},
		"before retry": {pause: time.Second, retry: true, least: time.Second, most: time.Second},
		"then named":   {before: 1000, pause: time.Minute, named: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKept(t)
				a := k.acquisition()
				a.wasted = c.before
				a.engine.cfg.pollInterval, a.engine.cfg.random = lock.DefaultPollInterval, rand.Int64N
				began := time.Now()
				k.queue.grantWasted()
				go func() {
					synctest.Wait()
					k.queue.grantWasted() // of an earlier attempt
					synctest.Wait()
					if c.named {
						k.queue.signal(wakeUp{named: true})
					}
				}()
				if err := a.sleep(t.Context(), pause{d: c.pause, poll: true, retry: c.retry}, false); err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				if took < c.least || took > c.most || a.named != c.named || !c.named && !c.retry && a.polls != 1 {
					t.Errorf("looked after %v, named %v, %d polls", took, a.named, a.polls)
				}
				k.lease.stop(lock.ErrMaxHold)
			})
		})
	}
}
