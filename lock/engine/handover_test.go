package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// afterNamedInVain is how long a caller that was named too late may pause: the message for the caller before it has
// reached it.
const afterNamedInVain = 4 * time.Millisecond

type options = []lock.AcquireOption

// TestHandOver: callers get the lock in the order of their calls, each with the next fence and without a request to a
// node. The last one releases.
func TestHandOver(t *testing.T) {
	inProcess(t, func(p *process) {
		holder, waiting := p.queue(nil, nil, nil, nil)
		acquires, releases := p.acquires.read(), p.releases.read()
		fence := holder.lease.Fence()
		for i, next := range waiting {
			if next.isDone() {
				t.Fatal("served while the lock is held")
			}
			holder.release()
			lease := next.served()
			if fence++; lease.Fence() != fence {
				t.Errorf("fence %d, want %d", lease.Fence(), fence)
			}
			if cause := context.Cause(holder.lease.Context()); cause != lock.ErrReleased {
				t.Errorf("the lease before ended with %v", cause)
			}
			if e := next.end; !e.HandedOver || e.Attempts != 0 || e.Fence != fence || e.Validity <= 0 {
				t.Errorf("caller %d: %+v", i, e)
			}
			if !next.wait.HandedOver || next.wait.Err != nil || next.wait.Named {
				t.Errorf("caller %d waited: %+v", i, next.wait)
			}
			holder = next
		}
		if p.acquires.read() != acquires || p.releases.read() != releases || p.handed.read() != len(waiting) {
			t.Errorf("%d acquires and %d releases on nodes for %d hand-overs", p.acquires.read()-acquires,
				p.releases.read()-releases, p.handed.read())
		}
		holder.release()
		if p.releases.read()-releases < 2 || p.isHeld() {
			t.Errorf("the last one asked %d nodes to let go", p.releases.read()-releases)
		}
		if later := p.call(); later.served().Fence() <= fence+100 {
			t.Errorf("fence %d is of the run before, which began before %d", later.lease.Fence(), fence)
		}
	})
}

// TestHandOverIsRefused: in each case the lock is released instead, and still goes to the caller that waits first.
func TestHandOverIsRefused(t *testing.T) {
	// With the earliest renewal, 5 ms after the grant, more than two thirds could be left after it.
	latest := engine.WithRandom(func(int64) int64 { return 0 })
	short := []lock.Option{lock.WithNodeTimeout(time.Millisecond), latest}
	for name, c := range map[string]struct {
		settings       []lock.Option
		holder, waiter options
		before         func(p *process, holder lock.Lease)
		handed, failed bool // handed over; the release fails
	}{
		"nothing":               {handed: true},
		"9 ms after the grant":  {before: after(9 * time.Millisecond), handed: true},
		"10 ms after the grant": {before: after(10 * time.Millisecond)},
		"another TTL":           {waiter: options{lock.TTL(9 * time.Second)}},
		"a waiter not renewed":  {waiter: options{lock.NoRenew()}},
		"a fair waiter":         {waiter: options{lock.Fair()}},
		"a holder not renewed":  {holder: options{lock.NoRenew()}},
		"a fair holder":         {holder: options{lock.Fair()}},
		"two thirds of validity": {short, options{lock.TTL(20 * time.Millisecond)},
			options{lock.TTL(20 * time.Millisecond)}, after(5900 * time.Microsecond), true, false},
		"less than that": {short, options{lock.TTL(20 * time.Millisecond)},
			options{lock.TTL(20 * time.Millisecond)}, after(6 * time.Millisecond), false, false},
		"the end of MaxHold": {holder: options{lock.MaxHold(time.Millisecond)},
			before: after(2 * time.Millisecond)},
		"a loss":                  {before: lose, failed: true},
		"a renewal under way":     {before: renewing(time.Millisecond)},
		"a renewal that is over":  {before: renewing(0), handed: true},
		"a parent that has ended": {before: func(*process, lock.Lease) {}, handed: true},
	} {
		t.Run(name, func(t *testing.T) {
			inProcess(t, func(p *process) {
				holder, waiting := p.queue(c.holder, c.waiter)
				if c.before != nil {
					c.before(p, holder.lease)
				}
				if name == "a parent that has ended" {
					holder.cancel()
				}
				if err := holder.lease.Release(p.t.Context()); (err != nil) != c.failed {
					t.Error(err)
				}
				time.Sleep(afterNamedInVain)
				lease := waiting[0].served()
				if waiting[0].end.HandedOver != c.handed || p.handed.read() > 0 != c.handed {
					t.Errorf("handed over: %v", waiting[0].end.HandedOver)
				}
				if lease.Fence() <= holder.lease.Fence() {
					t.Errorf("fence %d after %d", lease.Fence(), holder.lease.Fence())
				}
				waiting[0].release()
				synctest.Wait()
			}, c.settings...)
		})
	}
}

func after(d time.Duration) func(*process, lock.Lease) {
	return func(*process, lock.Lease) {
		time.Sleep(d)
		synctest.Wait()
	}
}

func lose(p *process, _ lock.Lease) {
	if err := p.locker.Lose("job"); err != nil {
		p.t.Error(err)
	}
}

// renewing begins a round of renewal that takes this long on every node.
func renewing(d time.Duration) func(*process, lock.Lease) {
	return func(p *process, holder lock.Lease) {
		for _, n := range p.nodes {
			n.Delay(d)
		}
		go func() { _ = holder.Extend(p.t.Context()) }()
		synctest.Wait()
		for _, n := range p.nodes {
			n.Delay(0)
		}
	}
}

// TestHandOverKeepsTheOrder: a caller that cannot be handed the lock is not overtaken by later ones that could.
func TestHandOverKeepsTheOrder(t *testing.T) {
	inProcess(t, func(p *process) {
		holder, waiting := p.queue(nil, nil, options{lock.Fair()}, nil)
		holder.release()
		waiting[0].served()
		synctest.Wait()
		if p.attempts.read() < 4 {
			t.Error("the fair caller waits for a hand-over that cannot come")
		}
		waiting[0].release()
		time.Sleep(afterNamedInVain)
		waiting[1].served()
		if waiting[1].end.HandedOver || waiting[2].isDone() {
			t.Error("the fair caller was handed the lock, or overtaken")
		}
		waiting[1].release()
		time.Sleep(afterNamedInVain)
		waiting[2].release()
		if p.handed.read() != 1 {
			t.Errorf("%d hand-overs, want 1", p.handed.read())
		}
	})
}

// TestTurnIsPassedAfterTheWindow: a lease that goes on leaves the queue between processes to the next caller.
func TestTurnIsPassedAfterTheWindow(t *testing.T) {
	inProcess(t, func(p *process) {
		holder, waiting := p.queue(nil, nil, nil)
		before := p.attempts.read()
		time.Sleep(9 * time.Millisecond)
		synctest.Wait()
		if p.attempts.read() != before {
			t.Error("the next caller contends while the lock may be handed over")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if p.attempts.read() == before {
			t.Error("the next caller does not contend")
		}
		holder.release()
		time.Sleep(afterNamedInVain)
		waiting[0].release()
		waiting[1].served()
		if waiting[0].end.HandedOver || !waiting[1].end.HandedOver {
			t.Errorf("handed over: %v, %v", waiting[0].end.HandedOver, waiting[1].end.HandedOver)
		}
		waiting[1].release()
	})
}

// TestUncontendedLeaseKeepsNoTurn: a later caller contends at once, because no fences were reserved.
func TestUncontendedLeaseKeepsNoTurn(t *testing.T) {
	inProcess(t, func(p *process) {
		holder := p.call()
		holder.served()
		before := p.attempts.read()
		next := p.call()
		if p.attempts.read() == before {
			t.Error("it waits for a hand-over that cannot come")
		}
		holder.release()
		next.release()
		if p.handed.read() > 0 || next.wait.Kind != "" {
			t.Errorf("handed over, or waited for: %+v", next.wait)
		}
	})
}
