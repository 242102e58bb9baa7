package contest

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
	"github.com/lockscope/lockscope/lock/engine/internal/lease"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
)

// newContending returns a caller that contends for the only resource of an engine without nodes.
func newContending() *contest {
	clock := &enginetest.Clock{}
	s := &nodes.Set{Config: &nodes.Config{Clock: clock.Read}, Contended: nodes.NewContention(clock.Read), Done: make(chan struct{})}
	e := &Core{Set: s, Queues: queue.NewQueues(2), Leases: lease.NewOpen()}
	ctx, opts := context.Background(), lock.NewAcquireOptions()
	q := e.Queues.Enter("lock:a")
	q.TakeTurn(&opts, nil)
	return &contest{
		engine: e, req: lease.Request{Resource: "a", Opts: opts, Parent: ctx, Traced: ctx}, line: q,
		group: group{resource: "a", key: "lock:a", size: 1},
	}
}

// TestWhatEndsAWait: a hint restarts the polls and says whether it names the caller. A timer continues the count of
// polls. A caller that was named too late still counts as named.
func TestWhatEndsAWait(t *testing.T) {
	for name, c := range map[string]struct {
		hint                 string // "-" and the lock key that it names
		poll, wasNamed       bool
		inVain, polls, after int
		named                bool
	}{
		"called by name":             {hint: "-lock:a", poll: true, polls: 3, named: true},
		"a hint":                     {hint: "-", poll: true, wasNamed: true, inVain: 1, polls: 3},
		"a poll":                     {poll: true, polls: 3, after: 4},
		"a time that was set":        {polls: 3},
		"named in vain, looks again": {poll: true, wasNamed: true, inVain: 1, after: 1, named: true},
		"named too often in vain":    {poll: true, wasNamed: true, after: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newContending()
				a.pace.polls, a.pace.namedInVain = c.polls, c.inVain
				if c.hint != "" {
					a.engine.Queues.WakeUp(c.hint[1:])
				}
				if err := a.sleep(t.Context(), pause{d: time.Second, poll: c.poll}, c.wasNamed); err != nil {
					t.Fatal(err)
				}
				if a.named != c.named || a.pace.polls != c.after {
					t.Errorf("named %v after %d polls, want %v, %d", a.named, a.pace.polls, c.named, c.after)
				}
			})
		})
	}
}

// TestAWaitSaysWhoIsNext for as long as it lasts: the caller that was named, or the first of its queue.
func TestAWaitSaysWhoIsNext(t *testing.T) {
	for name, c := range map[string]struct {
		named bool
		res   ballot.Result
		first bool
	}{
		"named":         {named: true, first: true},
		"first":         {res: ballot.Result{Ticket: 1}, first: true},
		"second":        {res: ballot.Result{Ticket: 1, Ahead: 1}},
		"in no queue":   {},
		"named, second": {named: true, res: ballot.Result{Ticket: 1, Ahead: 1}, first: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newContending()
				a.engine.Nodes = make([]*nodes.Node, 3)
				a.engine.Config.PollInterval, a.engine.Config.Random = time.Second, func(int64) int64 { return 0 }
				a.named = c.named
				done := make(chan error)
				go func() { done <- a.wait(t.Context(), c.res) }()
				synctest.Wait()
				if got := a.line.First.Load(); got != c.first {
					t.Errorf("while it waits: %v", got)
				}
				a.engine.Queues.WakeUp("")
				if err := <-done; err != nil || a.line.First.Load() || a.named {
					t.Errorf("after it: first %v, named %v, %v", a.line.First.Load(), a.named, err)
				}
				a.engine.Queues.WakeUp("")
				a.named = true
				if a.drainWake(); !a.named {
					t.Error("another hint takes the name away")
				}
			})
		})
	}
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
				a := newContending()
				a.pace.wasted = c.before
				a.engine.Config.PollInterval, a.engine.Config.Random = lock.DefaultPollInterval, rand.Int64N
				began := time.Now()
				a.line.GrantWasted()
				go func() {
					synctest.Wait()
					a.line.GrantWasted() // of an earlier attempt
					synctest.Wait()
					if c.named {
						a.engine.Queues.WakeUp("lock:a")
					}
				}()
				if err := a.sleep(t.Context(), pause{d: c.pause, poll: true, retry: c.retry}, false); err != nil {
					t.Fatal(err)
				}
				took := time.Since(began)
				if took < c.least || took > c.most || a.named != c.named || !c.named && !c.retry && a.pace.polls != 1 {
					t.Errorf("looked after %v, named %v, %d polls", took, a.named, a.pace.polls)
				}
			})
		})
	}
}

// TestHintsDoNotPutOffARound: without a common queue a call is named for its home alone. Late releases may name it there
// again and again while another holds it, and the slot that is free would wait for a poll without news.
func TestHintsDoNotPutOffARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newContending()
		of := &driver.Semaphore{Key: "lock:a", Slots: 2}
		c.group = group{resource: "a", key: of.QueueKey(), size: 2, any: true, of: of}
		c.line, c.members = c.engine.Queues.Enter(c.group.key), map[int]*queue.Queue{}
		c.line.TakeTurn(&c.req.Opts, nil)
		c.engine.Nodes = make([]*nodes.Node, 2)
		c.engine.Config.PollInterval, c.engine.Config.Random = time.Second, func(n int64) int64 { return n - 1 }
		held, began := ballot.Result{Err: lock.ErrHeld, Ticket: 1}, time.Now()
		for c.tries = 2; c.member == c.group.home; c.tries++ {
			if time.Since(began) > time.Second {
				t.Fatalf("after %v and %d attempts the call has not left its home", time.Since(began), c.tries)
			}
			hint := time.AfterFunc(300*time.Millisecond, func() {
				c.engine.Queues.WakeUpForSlot(c.group.key, of.SlotKey(c.group.home), c.group.home)
			})
			if err := c.wait(t.Context(), held); err != nil {
				t.Fatal(err)
			}
			hint.Stop()
		}
		if !c.continuesRound(held) || c.member != c.group.home {
			t.Error("after the round the call does not ask at home")
		}
	})
}

// TestAWaiterGoesBackToTheUsualGate, where the others queue, as soon as an attempt ends without the fault of its gate.
func TestAWaiterGoesBackToTheUsualGate(t *testing.T) {
	all := []*nodes.Node{{}, {}, {}}
	g := &gateQueue{}
	usual := g.choose("lock:a", all)
	g.note(&attempt.Attempt{Terms: attempt.Terms{Gate: usual}}, ballot.Result{GateFault: true}, false)
	other := g.choose("lock:a", all)
	if other == usual {
		t.Fatal("a gate that failed is asked again")
	}
	g.note(&attempt.Attempt{Terms: attempt.Terms{Gate: other}}, ballot.Result{}, false)
	if g.choose("lock:a", all) != usual {
		t.Error("the waiter stays at another gate than the others")
	}
}
