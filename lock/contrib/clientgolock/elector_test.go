package clientgolock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/clientgolock"
	"github.com/lockscope/lockscope/lock/locktest/leaktest"
	"github.com/lockscope/lockscope/lock/memlock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func candidate(t *testing.T, nodes memlock.Nodes, identity string) (*clientgolock.Lock, *memlock.Locker) {
	locker, err := memlock.New(nodes, lock.WithInstance(identity))
	must(t, err)
	t.Cleanup(func() { must(t, locker.Close()) })
	return clientgolock.New(locker, "controller", identity), locker
}

// elector is an elector of client-go, with its defaults for a controller.
type elector struct {
	*leaderelection.LeaderElector
	leads   chan context.Context // of each term
	stopped chan struct{}
}

// run runs an elector until ctx ends.
func run(ctx context.Context, t *testing.T, l resourcelock.Interface,
	leading func(func(context.Context)) func(context.Context),
) *elector {
	e := &elector{leads: make(chan context.Context, 10), stopped: make(chan struct{})}
	var err error
	e.LeaderElector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: true, Name: "controller",
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: leading(func(ctx context.Context) { e.leads <- ctx; <-ctx.Done() }),
			OnStoppedLeading: func() { close(e.stopped) },
		},
	})
	must(t, err)
	go e.Run(ctx)
	return e
}

// plain is client-go's own context of a leader.
func plain(fn func(context.Context)) func(context.Context) { return fn }

// TestElection: one candidate leads for two hours, and the next one when it is stopped.
func TestElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := memlock.NewNodes(3)
		first, _ := candidate(t, nodes, "first")
		second, _ := candidate(t, nodes, "second")
		ctx, stop := context.WithCancel(t.Context())
		a := run(ctx, t, first, first.Leading)
		leads := <-a.leads
		later, end := context.WithCancel(t.Context())
		b := run(later, t, second, second.Leading)
		<-time.After(2 * time.Hour)
		if leads.Err() != nil || len(b.leads) > 0 || b.GetLeader() != "first" {
			t.Errorf("after two hours: %v, %q leads", context.Cause(leads), b.GetLeader())
		}
		term := first.Fence()
		if held := lock.HeldLeases(leads); len(held) != 1 || held[0].Fence != term || term == 0 {
			t.Errorf("the leader holds %v", held)
		}
		stop()
		<-a.stopped
		at := time.Now()
		<-b.leads
		if took := time.Since(at); took > 5*time.Second {
			t.Errorf("the second leads %v later", took)
		}
		if first.Fence() != 0 || second.Fence() <= term {
			t.Errorf("terms %d, %d and %d", term, first.Fence(), second.Fence())
		}
		end()
		<-b.stopped
	})
}

// stuck is a lock whose renewals hang, whatever becomes of their context.
type stuck struct {
	*clientgolock.Lock
	release chan struct{}
	updates int
}

func (s *stuck) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if s.updates++; s.updates == 1 {
		<-s.release
	}
	return s.Lock.Update(ctx, r)
}

// TestRenewalHangs: the context of Leading has ended when another candidate leads. That of client-go has not.
func TestRenewalHangs(t *testing.T) {
	for name, ours := range map[string]bool{"Leading": true, "the context of client-go (bad)": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				first, _ := candidate(t, nodes, "first")
				second, _ := candidate(t, nodes, "second")
				hangs := &stuck{Lock: first, release: make(chan struct{})}
				ctx, stop := context.WithCancel(t.Context())
				leading := plain
				if ours {
					leading = first.Leading
				}
				a := run(ctx, t, hangs, leading)
				before := <-a.leads
				b := run(ctx, t, second, second.Leading)
				<-b.leads
				if (before.Err() != nil) != ours {
					t.Errorf("two lead, the first until %v", context.Cause(before))
				}
				stop()
				close(hangs.release)
				<-a.stopped
				<-b.stopped
			})
		})
	}
}

// forgetful is a lock that takes the lease again for a term that has lost it.
type forgetful struct{ *clientgolock.Lock }

func (f forgetful) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := f.Lock.Get(ctx)
	if err != nil {
		f.RecordEvent("stopped leading")
		return f.Lock.Get(ctx)
	}
	return record, raw, err
}

// TestLostTerm: another candidate has led meanwhile. The first must stop before it may lead again.
func TestLostTerm(t *testing.T) {
	for name, c := range map[string]struct {
		lock  func(*clientgolock.Lock) resourcelock.Interface
		stops bool
	}{
		"this package's":            {func(l *clientgolock.Lock) resourcelock.Interface { return l }, true},
		"one that forgets it (bad)": {func(l *clientgolock.Lock) resourcelock.Interface { return forgetful{l} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := memlock.NewNodes(3)
				first, locker := candidate(t, nodes, "first")
				_, other := candidate(t, nodes, "other")
				ctx, stop := context.WithCancel(t.Context())
				a := run(ctx, t, c.lock(first), plain)
				leads := <-a.leads
				<-time.After(time.Second) // the elector looks every two, and would take the lock before the other asks
				must(t, locker.Lose("controller"))
				lease, err := other.Acquire(t.Context(), "controller")
				must(t, err)
				must(t, lease.Release(t.Context()))
				<-time.After(time.Minute)
				if (leads.Err() != nil) != c.stops {
					t.Errorf("a minute later it leads until %v", context.Cause(leads))
				}
				stop()
				<-a.stopped
			})
		})
	}
}
