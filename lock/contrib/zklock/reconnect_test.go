//go:build !race

// Here clients of go-zookeeper reconnect: 1.0.4 then reads the last transaction it has seen beside the goroutine that
// writes it. make runs these without the race detector.

package zklock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/driver"
)

// TestASessionExpires while a lock is held and another waited for: the lease is lost before, others get the lock, the
// waiter goes on.
func TestASessionExpires(t *testing.T) {
	e := ensemble(t, 1)
	c := &cable{}
	short := []lock.Option{lock.WithMaxTTL(time.Second), lock.WithDefaults(lock.TTL(time.Second)),
		lock.WithNodeTimeout(200 * time.Millisecond)}
	l, other := locker(t, e, append(short, zklock.WithDialer(c.dial))...), locker(t, e)
	held := acquire(t, l, "held")
	blocker := acquire(t, other, "waited")
	waiting := make(chan error, 1)
	go func() {
		waiting <- lock.Do(context.WithoutCancel(t.Context()), l, "waited",
			func(context.Context, lock.Lease) error { return nil }, lock.MaxWait(patience))
	}()
	conn := client(t, e)
	eventually(t, "it queues", func() bool { return len(children(t, conn, "waited")) == 2 })
	c.set(true)
	next := acquire(t, other, "held")
	if held.Remaining() > 0 {
		t.Error("granted to another while the lease was valid")
	}
	if next.Fence() <= held.Fence() {
		t.Errorf("fence %d after %d", next.Fence(), held.Fence())
	}
	wantErr(t, context.Cause(held.Context()), lock.ErrLost)
	eventually(t, "the claim in the queue goes", func() bool { return len(children(t, conn, "waited")) == 1 })
	c.set(false)
	eventually(t, "it queues anew", func() bool { return len(children(t, conn, "waited")) == 2 })
	must(t, blocker.Release(t.Context()))
	must(t, <-waiting)
	must(t, next.Release(t.Context()))
}

// TestAHungServer is not waited for longer than the node timeout; what it does late is undone.
func TestAHungServer(t *testing.T) {
	e := ensemble(t, 1)
	l := locker(t, e, lock.WithNodeTimeout(300*time.Millisecond))
	must(t, acquire(t, l, "job").Release(t.Context()))
	must(t, e.Servers[0].Pause())
	for range 3 {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait())
		wantErr(t, err, lock.ErrNoQuorum, driver.ErrTimeout)
	}
	must(t, e.Servers[0].Resume())
	must(t, acquire(t, locker(t, e), "job", lock.MaxWait(8*time.Second)).Release(t.Context()))
}

// TestServersOfAnEnsembleDie, one after another, while a lock is held and taken: it is kept, and work goes on.
func TestServersOfAnEnsembleDie(t *testing.T) {
	e := ensemble(t, 3)
	l, others := locker(t, e), []lock.Locker{locker(t, e), locker(t, e)}
	held := acquire(t, l, "held")
	last := uint64(0)
	for round := range 3 {
		s := e.Servers[round]
		if round == 2 {
			leader, err := e.Leader()
			must(t, err)
			s = leader
		}
		must(t, s.Kill())
		for i, o := range others {
			lease := acquire(t, o, "job")
			if lease.Fence() <= last {
				t.Errorf("round %d, locker %d: fence %d after %d", round, i, lease.Fence(), last)
			}
			last = lease.Fence()
			must(t, lease.Release(t.Context()))
		}
		_, err := others[0].Acquire(t.Context(), "held", lock.NoWait())
		wantErr(t, err, lock.ErrHeld)
		must(t, s.Start())
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		must(t, e.Await(ctx))
		cancel()
	}
	if err := held.Context().Err(); err != nil {
		t.Errorf("the lease was lost: %v", context.Cause(held.Context()))
	}
	must(t, held.Release(t.Context()))
}

// TestTheAnswerToACreateIsLost: the claim is found again by its GUID, and there is one.
func TestTheAnswerToACreateIsLost(t *testing.T) {
	e := ensemble(t, 1)
	conn, c := client(t, e), &cable{}
	l := locker(t, e, zklock.WithDialer(c.dial))
	must(t, acquire(t, l, "job").Release(t.Context()))
	c.loseAnswerTo("/locks/job/_c_")
	lease := acquire(t, l, "job")
	if names := children(t, conn, "job"); !c.lost() || len(names) != 1 {
		t.Errorf("answer lost: %v; claims: %v", c.lost(), names)
	}
	// A client with one server waits a second before it connects again.
	eventually(t, "the lease is extended", func() bool { return lease.Extend(t.Context()) == nil })
	must(t, lease.Release(t.Context()))
	eventually(t, "nothing is left", func() bool { return len(children(t, conn, "job")) == 0 })
}

// TestTheAnswersToARenewalAndAReleaseAreLost: both are asked for again, of the next server, within the call.
func TestTheAnswersToARenewalAndAReleaseAreLost(t *testing.T) {
	e := ensemble(t, 3)
	conn, c := client(t, e), &cable{}
	l := locker(t, e, zklock.WithDialer(c.dial), lock.WithNodeTimeout(2*time.Second))
	lease := acquire(t, l, "job")
	c.loseAnswerTo("/locks/job/_c_")
	must(t, lease.Extend(t.Context()))
	if !c.lost() {
		t.Error("the answer to the renewal was not lost")
	}
	c.loseAnswerTo("/locks/job/_c_")
	must(t, lease.Release(t.Context()))
	if names := children(t, conn, "job"); !c.lost() || len(names) != 0 {
		t.Errorf("answer to the release lost: %v; claims: %v", c.lost(), names)
	}
}
