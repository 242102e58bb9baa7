package election_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/noquorum"
	"github.com/lockscope/lockscope/lock/memlock"
)

// fleet is processes over servers in memory, and a record of who led when.
type fleet struct {
	t       *testing.T
	servers []*locktest.FakeServer
	began   time.Time

	mu    sync.Mutex
	valid string // who leads by its context
	terms []uint64
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{t: t, began: time.Now()}
	for i := range 3 {
		s := locktest.NewFakeServer(fmt.Sprintf("node%d", i+1))
		t.Cleanup(s.Close)
		f.servers = append(f.servers, s)
	}
	return f
}

func (f *fleet) process(name string) *engine.Engine {
	var nodes []driver.Node
	for i, s := range f.servers {
		nodes = append(nodes, engine.Async(s.Connect(uint64(i), locktest.Faults{})))
	}
	l, err := engine.NewEngine(nodes, lock.WithInstance(name), lock.WithNodeTimeout(200*time.Millisecond),
		engine.WithClock(func() time.Duration { return time.Since(f.began) }))
	must(f.t, err)
	f.t.Cleanup(func() { _ = l.Close() })
	return l
}

// begin records a leader. It fails the test if another one leads, or if its number is not higher than all before.
func (f *fleet) begin(who string, term election.Term) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.valid != "" {
		f.t.Errorf("%s and %s lead at once", f.valid, who)
	}
	if n := len(f.terms); n > 0 && term.Number() <= f.terms[n-1] {
		f.t.Errorf("term %d after term %d", term.Number(), f.terms[n-1])
	}
	f.valid, f.terms = who, append(f.terms, term.Number())
}

func (f *fleet) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.valid = ""
}

func (f *fleet) leader() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.valid
}

// ledTerms is how many terms there were.
func (f *fleet) ledTerms() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.terms)
}

// leads is a leader that works until its context ends.
func (f *fleet) leads(who string) func(context.Context, election.Term) error {
	return func(ctx context.Context, term election.Term) error {
		f.begin(who, term)
		<-ctx.Done()
		f.end()
		return nil
	}
}

// run is Run in a goroutine.
func (f *fleet) run(ctx context.Context, l lock.Locker, who string, opts ...election.Option) <-chan error {
	done := make(chan error, 1)
	go func() { done <- election.Run(ctx, l, "billing", f.leads(who), opts...) }()
	synctest.Wait()
	return done
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fleet) wantLeader(want string) {
	f.t.Helper()
	synctest.Wait()
	if got := f.leader(); got != want {
		f.t.Errorf("%q leads, want %q", got, want)
	}
}

// TestHandOver: a leader that stops in an orderly way is followed at once, by the candidate that waited longest.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		ctx, cancel := context.WithCancel(t.Context())
		first := f.run(ctx, f.process("a"), "a")
		time.Sleep(61 * time.Minute) // alone: a second candidate would poll thousands of times
		second, stop := context.WithCancel(t.Context())
		b := f.run(second, f.process("b"), "b")
		time.Sleep(time.Minute)
		f.wantLeader("a")
		if n := f.ledTerms(); n != 1 {
			t.Errorf("%d terms: one ended because it was long", n)
		}
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(time.Second)
		f.wantLeader("b")
		stop()
		<-b
	})
}

// TestRenewalHangs: a leader whose nodes hang stops before anybody else can lead, and does not wait for an answer.
func TestRenewalHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		ctx, cancel := context.WithCancel(t.Context())
		a := f.run(ctx, f.process("a"), "a", election.TTL(3*time.Second))
		b := f.run(ctx, f.process("b"), "b", election.TTL(3*time.Second))
		f.wantLeader("a")
		for _, s := range f.servers[:2] {
			s.Pause()
		}
		time.Sleep(3 * time.Second)
		f.wantLeader("")
		for _, s := range f.servers[:2] {
			s.Resume()
		}
		time.Sleep(30 * time.Second)
		if f.leader() == "" {
			t.Error("nobody leads when the nodes answer again")
		}
		cancel()
		<-a
		<-b
	})
}

// TestSlowLeaderKeepsItsTerm: between the end of Run's context and the return of the leader nobody else leads, however
// long that takes.
func TestSlowLeaderKeepsItsTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- election.Run(ctx, f.process("a"), "billing", func(ctx context.Context, term election.Term) error {
				f.begin("a", term)
				defer f.end()
				<-ctx.Done()
				time.Sleep(time.Minute) // six times the TTL
				return ctx.Err()
			})
		}()
		synctest.Wait()
		other, stop := context.WithCancel(t.Context())
		b := f.run(other, f.process("b"), "b")
		cancel()
		if err := <-done; err == nil || !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(time.Second)
		f.wantLeader("b")
		stop()
		<-b
	})
}

// TestCancelledCampaign never leads afterwards.
func TestCancelledCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		term, err := election.Campaign(t.Context(), f.process("a"), "billing")
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := f.run(ctx, f.process("b"), "b")
		time.Sleep(time.Second)
		cancel()
		if err := <-gaveUp; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		must(t, term.Resign(t.Context()))
		must(t, term.Resign(t.Context())) // a second call is the first
		if cause := context.Cause(term.Context()); !errors.Is(cause, lock.ErrReleased) {
			t.Error(cause)
		}
		next, err := election.Campaign(t.Context(), f.process("c"), "billing")
		must(t, err)
		time.Sleep(time.Minute)
		f.wantLeader("")
		if next.Number() <= term.Number() || next.Name() != "billing" || next.Remaining() <= 0 {
			t.Errorf("term %d of %q after %d, valid for %v", next.Number(), next.Name(), term.Number(), next.Remaining())
		}
		must(t, next.Resign(t.Context()))
	})
}

// TestCampaignOutlivesItsContext: a term whose Campaign context ended says so to the leader and is kept until Resign.
func TestCampaignOutlivesItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		term, err := election.Campaign(ctx, f.process("a"), "billing")
		must(t, err)
		shutdown := errors.New("shutdown")
		cancel(shutdown)
		<-term.Context().Done()
		if cause := context.Cause(term.Context()); !errors.Is(cause, shutdown) {
			t.Error(cause)
		}
		time.Sleep(time.Minute)
		if _, err := election.Campaign(t.Context(), noWait{f.process("b")}, "billing"); !errors.Is(err, lock.ErrHeld) {
			t.Errorf("another leads before the first has resigned: %v", err)
		}
		must(t, term.Resign(t.Context()))
	})
}

// noWait is a Locker that tries once.
type noWait struct{ lock.Locker }

func (n noWait) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	return n.Locker.Acquire(ctx, resource, append(opts, lock.NoWait())...)
}

// TestLostTerm: the leader is told why, and campaigns again unless it was asked not to.
func TestLostTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		ctx, cancel := context.WithCancel(t.Context())
		again := f.run(ctx, f.process("a"), "a")
		lose := func() {
			for _, s := range f.servers {
				s.Pause()
			}
			time.Sleep(time.Minute)
			for _, s := range f.servers {
				s.Resume()
			}
			time.Sleep(time.Minute)
		}
		lose()
		f.wantLeader("a")
		if n := f.ledTerms(); n != 2 {
			t.Errorf("%d terms, want two", n)
		}
		cancel()
		<-again
		once := f.run(t.Context(), f.process("b"), "b", election.Once())
		lose()
		if err := <-once; !errors.Is(err, lock.ErrLost) {
			t.Error(err)
		}
	})
}

// TestOutage: without a quorum a candidate goes on campaigning, and says so; a closed engine ends it.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		for _, s := range f.servers {
			s.RestartEmpty(time.Minute) // in quarantine: waiting cannot help, and Acquire does not wait
		}
		failures := make(chan error, 100)
		l := f.process("a")
		done := f.run(t.Context(), l, "a", election.Failed(func(err error) { failures <- err }))
		time.Sleep(30 * time.Second)
		f.wantLeader("")
		if n, first := len(failures), <-failures; n < 5 || n > 40 || !errors.Is(first, lock.ErrNoQuorum) {
			t.Errorf("%d failures, the first: %v", n, first)
		}
		time.Sleep(time.Minute)
		f.wantLeader("a")
		must(t, l.Close())
		if err := <-done; !errors.Is(err, lock.ErrClosed) {
			t.Error(err)
		}
		f.wantLeader("")
	})
}

// TestNoQuorum: nobody leads. Run says why while it goes on campaigning, and when ctx ends.
func TestNoQuorum(t *testing.T) {
	noquorum.Each(t, func(t *testing.T, l *memlock.Locker) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := election.Run(ctx, l, "billing", func(context.Context, election.Term) error {
			t.Error("it leads")
			return nil
		})
		if !errors.Is(err, lock.ErrNoQuorum) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestStandby: the first in line is told, and the second when its turn has come.
func TestStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		term, err := election.Campaign(t.Context(), f.process("a"), "billing")
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		told := make(chan string, 4)
		var done []<-chan error
		for _, who := range []string{"b", "c"} {
			done = append(done, f.run(ctx, f.process(who), who, election.Standby(func(_ context.Context, leader lock.Holder) {
				told <- who + " after " + leader.Instance
			})))
			time.Sleep(time.Second)
		}
		if got := <-told; got != "b after a" || len(told) != 0 {
			t.Errorf("%s, and %d more", got, len(told))
		}
		must(t, term.Resign(t.Context()))
		if got := <-told; got != "c after b" {
			t.Error(got)
		}
		time.Sleep(time.Second)
		f.wantLeader("b")
		cancel()
		for _, d := range done {
			<-d
		}
	})
}

// TestStandbyEndsWithTheTerm: a leader that winds down after the term was lost can wait for what loads beside it.
func TestStandbyEndsWithTheTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		term, err := election.Campaign(t.Context(), f.process("a"), "billing")
		must(t, err)
		loaded, done := make(chan struct{}), make(chan error, 1)
		standby := election.Standby(func(ctx context.Context, _ lock.Holder) {
			<-ctx.Done()
			close(loaded)
		})
		go func() {
			done <- election.Run(t.Context(), f.process("b"), "billing", func(ctx context.Context, _ election.Term) error {
				select {
				case <-loaded:
					t.Error("it ends before the term")
				case <-ctx.Done():
				}
				select {
				case <-loaded:
				case <-time.After(time.Hour):
					t.Error("it goes on after the term")
				}
				return nil
			}, standby, election.Once())
		}()
		time.Sleep(time.Second)
		must(t, term.Resign(t.Context()))
		time.Sleep(time.Second)
		f.all((*locktest.FakeServer).Pause)
		if err := <-done; !errors.Is(err, lock.ErrLost) {
			t.Error(err)
		}
		f.all((*locktest.FakeServer).Resume)
	})
}

// TestLeaderReturns: its error is Run's, with the term resigned; and so is a panic.
func TestLeaderReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		l := f.process("a")
		failure := errors.New("disk full")
		err := election.Run(t.Context(), l, "billing", func(context.Context, election.Term) error { return failure })
		if !errors.Is(err, failure) {
			t.Error(err)
		}
		func() {
			defer func() {
				if v := recover(); v != "boom" {
					t.Errorf("panics with %v", v)
				}
			}()
			_ = election.Run(t.Context(), l, "billing", func(context.Context, election.Term) error { panic("boom") })
		}()
		term, err := election.Campaign(t.Context(), noWait{f.process("b")}, "billing")
		must(t, err)
		must(t, term.Resign(t.Context()))
	})
}

// TestLeaderResigns: Run ends then, with the error of the leader alone.
func TestLeaderResigns(t *testing.T) {
	failure := errors.New("disk full")
	for name, c := range map[string]struct {
		opts []election.Option
		fail error
	}{
		"with an error":    {fail: failure},
		"without an error": {},
		"once":             {opts: []election.Option{election.Once()}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				terms := 0
				err := election.Run(t.Context(), newFleet(t).process("a"), "billing",
					func(ctx context.Context, term election.Term) error {
						if terms++; terms > 1 {
							return errors.New("it leads again")
						}
						_ = term.Resign(ctx) // which ends ctx, and with it the wait for the nodes
						return c.fail
					}, c.opts...)
				if !errors.Is(err, c.fail) || c.fail != nil && err.Error() != c.fail.Error() {
					t.Errorf("%v, want %v", err, c.fail)
				}
			})
		})
	}
}

// TestBadInput is refused before a node is asked.
func TestBadInput(t *testing.T) {
	lead := func(context.Context, election.Term) error { return nil }
	l := noWait{nil}
	for name, err := range map[string]error{
		"no locker": election.Run(t.Context(), nil, "billing", lead),
		"no leader": election.Run(t.Context(), l, "billing", nil),
	} {
		if !errors.Is(err, lock.ErrInvalidOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := new(election.Term).Resign(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("the zero term: %v", err)
	}
	if _, err := election.Campaign(t.Context(), nil, "billing"); !errors.Is(err, lock.ErrInvalidOption) {
		t.Error(err)
	}
}
