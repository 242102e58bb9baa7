package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/engine/internal/queue"
)

// kept has a set without nodes, and a lease on it that keeps its caller's turn.
type kept struct {
	set    *nodes.Set
	open   *Open
	queues *queue.Queues
	clock  *enginetest.Clock
	queue  *queue.Queue
	lease  *Lease
	opts   lock.AcquireOptions
}

func newKept(t *testing.T) *kept {
	t.Helper()
	k := &kept{clock: &enginetest.Clock{}, opts: lock.NewAcquireOptions(), queues: queue.NewQueues(2), open: NewOpen()}
	k.set = &nodes.Set{
		Config: &nodes.Config{Clock: k.clock.Read}, Contended: nodes.NewContention(k.clock.Read), Done: make(chan struct{}),
	}
	k.queue = k.queues.Enter("lock:a")
	if k.turn() != nil {
		t.Fatal("the first caller waits")
	}
	k.lease, _ = k.begin(k.opts)
	t.Cleanup(func() { k.lease.timer.Stop() })
	if !k.lease.kept || k.queue.Keeps() != k.lease {
		t.Fatal("the lease does not keep its turn")
	}
	return k
}

func (k *kept) turn() *queue.Turn { return k.queue.TakeTurn(&k.opts, nil) }

// begin makes a lease of a grant of this instant with a run of ten fences.
func (k *kept) begin(opts lock.AcquireOptions) (l *Lease, late bool) {
	validity := k.opts.TTL - nodes.Drift(k.opts.TTL)
	a := &attempt.Attempt{
		Terms: attempt.Terms{Queue: &k.queue.Calls, Opts: k.opts}, Set: k.set, Ready: await.NewSignal(),
	}
	ctx := context.Background()
	return New(k.set, k.open, &Request{Queue: k.queue, HasTurn: !opts.NoWait, Opts: opts, Parent: ctx, Traced: ctx},
		attempt.Beginning{Attempt: a, Fence: 1, Last: 10, Expires: validity, RenewAt: clock.Never})
}

// isTaken reports whether the next caller of this process would have to wait.
func (k *kept) isTaken() bool { return k.queues.WakeUp("lock:a") || k.queue.Keeps() != nil }

// wantGone fails the test if the engine still knows the lease, or unless the queue has as many users besides it.
func (k *kept) wantGone(t *testing.T, l *Lease, users int) {
	t.Helper()
	if l.timer.Stop() {
		t.Error("its timer is still to go off")
	}
	if k.queue.Graph.Holder() != nil {
		t.Error("it is still said to hold the resource")
	}
	if len(k.open.all()) > 0 {
		t.Error("the engine still knows it")
	}
	for range users {
		if k.queues.Graphs([]string{"lock:a"})[0] == nil {
			t.Errorf("its queue has fewer than %d users", users)
		}
		k.queue.Leave()
	}
	if k.queues.Graphs([]string{"lock:a"})[0] != nil {
		t.Errorf("its queue has more than %d users", users)
	}
}

func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestAnEngineThatClosesHandsNothingOver: the next lease would end at once, and its lock would stay for a TTL.
func TestAnEngineThatClosesHandsNothingOver(t *testing.T) {
	k := newKept(t)
	next := k.turn()
	close(k.set.Done)
	if k.lease.handOver() || next.Handed || k.lease.cause() != nil {
		t.Errorf("handed over: %v; the lease ended with %v", next.Handed, k.lease.cause())
	}
	k.lease.stop(lock.ErrClosed)
}

// TestAHandOverLeavesNothingOfTheLease that is handed over, and calls the next caller last.
func TestAHandOverLeavesNothingOfTheLease(t *testing.T) {
	k := newKept(t)
	k.queues.Enter("lock:a")
	next := k.turn()
	cancel := k.lease.cancel
	k.lease.cancel = func(cause error) {
		if ended(next.Come) {
			t.Error("the next caller has the lock before the lease has ended")
		}
		cancel(cause)
	}
	if !k.lease.handOver() || !next.Handed || !ended(next.Come) {
		t.Fatal("not handed over")
	}
	k.wantGone(t, k.lease, 1)
	if other := (lock.AcquireOptions{TTL: time.Second}); k.queue.TakeTurn(&other, nil) == nil {
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
	if k.queues.WakeUp("lock:a") {
		t.Error("a lease that keeps its turn was named, and has no use for it")
	}
	if k.queue.TakeTurn(&other, nil) != nil {
		t.Fatal("it waits for a hand-over that cannot come")
	}
	second := k.turn()
	if second == nil || k.lease.handOver() {
		t.Fatal("two callers contend")
	}
	k.lease.stop(lock.ErrMaxHold)
	if ended(second.Come) {
		t.Error("the end of the lease passes a turn that it no longer has")
	}

	k = newKept(t)
	first := k.turn()
	if k.queue.TakeTurn(&other, nil) == nil {
		t.Error("a newcomer overtakes the caller that waits for the hand-over")
	}
	if !k.lease.handOver() || !first.Handed {
		t.Error("not handed over to the first")
	}
}

// TestAnEndedLeaseLeavesItsQueue once, however it ends.
func TestAnEndedLeaseLeavesItsQueue(t *testing.T) {
	for name, end := range map[string]func(*Lease){
		"lost":                  (*Lease).Lose,
		"stopped":               func(l *Lease) { l.stop(lock.ErrMaxHold) },
		"released":              func(l *Lease) { _ = l.Release(context.Background()) },
		"stopped, and released": func(l *Lease) { l.stop(lock.ErrMaxHold); _ = l.Release(context.Background()) },
		"lost twice":            func(l *Lease) { l.Lose(); l.Lose() },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t)
			k.queues.Enter("lock:a") // another caller
			if name == "stopped" {
				k.lease.attempt.Grants = make([]attempt.Grant, 1)
			}
			end(k.lease)
			k.wantGone(t, k.lease, 1)
			if k.isTaken() {
				t.Error("it still has the turn")
			}
			for i := range k.lease.attempt.Grants {
				if k.lease.attempt.Grants[i].Open() {
					t.Error("a renewal that waits for its turn may still prolong it")
				}
			}
			if left := k.lease.Remaining(); left > 0 {
				t.Errorf("%v left", left)
			}
		})
	}
}

// TestALeaseThatComesLate: after its validity, while the engine closes, or for a caller that had no turn.
func TestALeaseThatComesLate(t *testing.T) {
	k := newKept(t)
	k.lease.stop(lock.ErrMaxHold)
	k.clock.Now = attempt.HandOverWindow
	k.turn()
	if l, _ := k.begin(k.opts); l.kept || k.isTaken() {
		t.Error("it keeps the turn after the time in which it may hand the lock over")
	}

	k = newKept(t)
	noWait := k.opts
	noWait.NoWait = true
	if l, _ := k.begin(noWait); l.kept || !k.isTaken() || k.queue.Keeps() != k.lease {
		t.Error("a caller that does not wait passes the turn of another")
	}

	k = newKept(t)
	k.lease.stop(lock.ErrMaxHold)
	close(k.set.Done)
	if l, _ := k.begin(k.opts); !errors.Is(context.Cause(l.Context()), lock.ErrClosed) {
		t.Error("a lease outlives the engine")
	}
}
