package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
)

// kept returns an engine without nodes, and a lease that keeps its caller's turn.
type kept struct {
	engine *core
	clock  *manualClock
	queue  *resourceQueue
	lease  *lease
	opts   lock.AcquireOptions
}

func newKept(t *testing.T) *kept {
	t.Helper()
	all, clock := newTestQueues()
	k := &kept{clock: clock, opts: lock.NewAcquireOptions()}
	b := &set{cfg: &config{clock: clock.read}, contended: newContention(clock.read), done: make(chan struct{})}
	k.engine = &core{set: b, queues: all, leases: newOpenLeases()}
	k.queue = all.enter("lock:a")
	if k.turn() != nil {
		t.Fatal("the first caller waits")
	}
	k.lease, _ = k.acquisition().lease(k.begun())
	t.Cleanup(func() { k.lease.timer.Stop() })
	if !k.lease.kept || k.keeper() != k.lease {
		t.Fatal("the lease does not keep its turn")
	}
	return k
}

// keeper is such a lease, whose timer may pass the turn on at any time.
func (k *kept) keeper() keeper {
	k.queue.all.mu.Lock()
	defer k.queue.all.mu.Unlock()
	return k.queue.keeper
}

func (k *kept) turn() *turn { return k.queue.takeTurn(&k.opts, nil) }

func (k *kept) acquisition() *acquisition {
	ctx := context.Background()
	return &acquisition{contender{caller: caller{
		request: request{queue: k.queue, opts: k.opts, parent: ctx, traced: ctx}, engine: k.engine, key: "lock:a",
	}}}
}

// begun is a grant of this instant with a run of ten fences.
func (k *kept) begun() beginning {
	validity := k.opts.TTL - driftOf(k.opts.TTL)
	a := &attempt{
		terms: terms{queue: &k.queue.nodeQueues, opts: k.opts}, set: k.engine.set,
		fence: 1, run: 10, validity: validity, ready: await.NewSignal(),
	}
	return beginning{attempt: a, fence: 1, expires: validity, renewAt: never}
}

// isTaken reports whether the next caller of this process would have to wait.
func (k *kept) isTaken() bool {
	k.queue.all.mu.Lock()
	defer k.queue.all.mu.Unlock()
	return k.queue.taken
}

// wantGone fails the test if the engine still knows the lease.
func (k *kept) wantGone(t *testing.T, l *lease, users int) {
	t.Helper()
	if l.timer.Stop() {
		t.Error("its timer is still to go off")
	}
	if k.queue.graph.Holder() != nil {
		t.Error("it is still said to hold the resource")
	}
	if len(k.engine.leases.all()) > 0 {
		t.Error("the engine still knows it")
	}
	if n := k.queue.users.Load(); int(n) != users || (len(k.queue.all.byKey) == 0) != (users == 0) {
		t.Errorf("%d users of its queue, %d queues; want %d users", n, len(k.queue.all.byKey), users)
	}
}

// TestAnEngineThatClosesHandsNothingOver: the next lease would end at once, and its lock would stay for a TTL.
func TestAnEngineThatClosesHandsNothingOver(t *testing.T) {
	k := newKept(t)
	next := k.turn()
	close(k.engine.done)
	if k.lease.handOver() || next.handed || k.lease.cause() != nil {
		t.Errorf("handed over: %v; the lease ended with %v", next.handed, k.lease.cause())
	}
	k.lease.stop(lock.ErrClosed)
}

// TestAHandOverLeavesNothingOfTheLease that is handed over, and calls the next caller last.
func TestAHandOverLeavesNothingOfTheLease(t *testing.T) {
	k := newKept(t)
	k.queue.all.enter("lock:a")
	next := k.turn()
	cancel := k.lease.cancel
	k.lease.cancel = func(cause error) {
		if closed(next.come) {
			t.Error("the next caller has the lock before the lease has ended")
		}
		cancel(cause)
	}
	if !k.lease.handOver() || !next.handed || !closed(next.come) {
		t.Fatal("not handed over")
	}
	k.wantGone(t, k.lease, 1)
	if other := (lock.AcquireOptions{TTL: time.Second}); k.queue.takeTurn(&other, nil) == nil {
		t.Error("a caller that wants another TTL contends beside the one that was handed the lock")
	}
	if k.turn() == nil {
		t.Error("two callers contend")
	}
}

// TestAnOvertakenTurnIsPassedOnce: a caller that cannot be handed the lock takes the turn that is kept, unless another
// waits before it.
func TestAnOvertakenTurnIsPassedOnce(t *testing.T) {
	k := newKept(t)
	other := lock.AcquireOptions{TTL: time.Second}
	if k.engine.queues.wakeUp("lock:a") {
		t.Error("a lease that keeps its turn was named, and has no use for it")
	}
	if k.queue.takeTurn(&other, nil) != nil {
		t.Fatal("it waits for a hand-over that cannot come")
	}
	second := k.turn()
	if second == nil || k.lease.handOver() {
		t.Fatal("two callers contend")
	}
	k.lease.stop(lock.ErrMaxHold)
	if closed(second.come) {
		t.Error("the end of the lease passes a turn that it no longer has")
	}

	k = newKept(t)
	first := k.turn()
	if k.queue.takeTurn(&other, nil) == nil {
		t.Error("a newcomer overtakes the caller that waits for the hand-over")
	}
	if !k.lease.handOver() || !first.handed {
		t.Error("not handed over to the first")
	}
}

// TestAnEndedLeaseLeavesItsQueue once, however it ends.
func TestAnEndedLeaseLeavesItsQueue(t *testing.T) {
	for name, end := range map[string]func(*lease){
		"lost":                  (*lease).lose,
		"stopped":               func(l *lease) { l.stop(lock.ErrMaxHold) },
		"released":              func(l *lease) { _ = l.Release(context.Background()) },
		"stopped, and released": func(l *lease) { l.stop(lock.ErrMaxHold); _ = l.Release(context.Background()) },
		"lost twice":            func(l *lease) { l.lose(); l.lose() },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t)
			if name == "stopped" {
				k.lease.attempt.grants = make([]grant, 1)
			}
			end(k.lease)
			k.wantGone(t, k.lease, 0)
			if k.isTaken() {
				t.Error("it still has the turn")
			}
			for i := range k.lease.attempt.grants {
				if k.lease.attempt.grants[i].open() {
					t.Error("a renewal that waits for its turn may still prolong it")
				}
			}
			if left := k.lease.Remaining(); left > 0 {
				t.Errorf("%v left", left)
			}
		})
	}
}

// TestALockThatIsGivenBackAtOnce passes on the turn that came with it, and keeps the queue of its caller.
func TestALockThatIsGivenBackAtOnce(t *testing.T) {
	k := newKept(t)
	k.queue.all.enter("lock:a")
	if next := k.turn(); !k.lease.handOver() || !next.handed {
		t.Fatal("not handed over")
	}
	h := k.begun()
	h.fence = 2
	k.acquisition().giveBack(h)
	if k.isTaken() {
		t.Error("nobody has the lock, and nobody can contend for it")
	}
	if n := k.queue.users.Load(); n != 1 {
		t.Errorf("%d users of the queue, want its caller", n)
	}
}

// TestALeaseThatComesLate: after its validity, while the engine closes, or for a caller that had no turn.
func TestALeaseThatComesLate(t *testing.T) {
	k := newKept(t)
	k.lease.stop(lock.ErrMaxHold)
	k.clock.now = handOverWindow
	k.turn()
	if l, _ := k.acquisition().lease(k.begun()); l.kept || k.isTaken() {
		t.Error("it keeps the turn after the time in which it may hand the lock over")
	}

	k = newKept(t)
	noWait := k.acquisition()
	noWait.opts.NoWait = true
	if l, _ := noWait.lease(k.begun()); l.kept || !k.isTaken() || k.keeper() != k.lease {
		t.Error("a caller that does not wait passes the turn of another")
	}

	k = newKept(t)
	k.lease.stop(lock.ErrMaxHold)
	close(k.engine.done)
	if l, _ := k.acquisition().lease(k.begun()); !errors.Is(context.Cause(l.Context()), lock.ErrClosed) {
		t.Error("a lease outlives the engine")
	}
}

// TestRunsAreBounded: fences are reserved for the callers that wait, up to a bound, and only by leases that may hand
// over.
func TestRunsAreBounded(t *testing.T) {
	k := newKept(t)
	a := k.acquisition()
	for waiting, want := range map[int]uint64{0: 1, 1: fencesPerWaiter, 2: 2 * fencesPerWaiter, 1000: maxRun} {
		if k.queue.turns = make([]*turn, waiting); a.reserve() != want {
			t.Errorf("%d fences for %d that wait, want %d", a.reserve(), waiting, want)
		}
	}
	if a.opts.Fair = true; a.reserve() != 1 {
		t.Error("a fair caller reserves fences, and hands nothing over")
	}
}
