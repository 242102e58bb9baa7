package election_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/locktest"
)

// seen is one answer of an observer.
type seen struct {
	election.Observation
	err error
}

func (s seen) String() string {
	switch {
	case s.err != nil:
		return "cannot tell"
	case s.Vacant:
		return "vacant"
	}
	return s.Leader.Instance
}

// watch observes until ctx ends. It returns a function that waits for the next answer, and a channel that is closed at
// the end.
func watch(ctx context.Context, p election.Peeker, opts ...election.ObserveOption) (
	next func() seen, done <-chan struct{},
) {
	answers, ended := make(chan seen), make(chan struct{})
	go func() {
		defer close(ended)
		for o, err := range election.Observe(ctx, p, "billing", opts...) {
			select {
			case answers <- seen{o, err}:
			case <-ctx.Done():
			}
		}
	}()
	return func() seen { return <-answers }, ended
}

// observing runs a test with an observer beside a fleet.
func observing(t *testing.T, test func(t *testing.T, f *fleet, next func() seen)) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		ctx, cancel := context.WithCancel(t.Context())
		next, done := watch(ctx, f.process("observer"))
		test(t, f, next)
		cancel()
		<-done
	})
}

func want(t *testing.T, what string, got seen, name string) seen {
	t.Helper()
	if got.String() != name {
		t.Errorf("%s: the observer sees %q, want %q: %+v, %v", what, got, name, got.Observation, got.err)
	}
	return got
}

// TestObserveSeesEachVacancy: before anybody campaigns, after a resignation, and after a leader's death, at the latest
// one TTL and one interval later.
func TestObserveSeesEachVacancy(t *testing.T) {
	observing(t, func(t *testing.T, f *fleet, next func() seen) {
		if s := want(t, "nobody campaigns", next(), "vacant"); s.Term != 0 || s.SeenAt.IsZero() {
			t.Errorf("%+v", s)
		}
		a, err := election.Campaign(t.Context(), f.process("a"), "billing")
		must(t, err)
		s := want(t, "a leads", next(), "a")
		if s.Term != a.Number() || s.Leader.Kind != lock.KindElection {
			t.Errorf("term %d, want %d; %+v", s.Term, a.Number(), s.Leader)
		}
		if left := s.NotAfter.Sub(s.SeenAt); left <= 0 || left > lock.DefaultTTL {
			t.Errorf("not after %v from then", left)
		}
		must(t, a.Resign(t.Context()))
		if s := want(t, "a has resigned", next(), "vacant"); s.Term != a.Number() {
			t.Errorf("the last term was %d, and %d was seen", a.Number(), s.Term)
		}
		b := f.process("b")
		term, err := election.Campaign(t.Context(), b, "billing")
		must(t, err)
		if s := want(t, "b leads", next(), "b"); s.Term <= a.Number() || s.Term != term.Number() {
			t.Errorf("term %d after term %d, want %d", s.Term, a.Number(), term.Number())
		}
		must(t, b.Close()) // as a crash does, this leaves the lock where it is
		died := time.Now()
		for s = next(); !s.Vacant && time.Since(died) < time.Minute; s = next() {
			want(t, "b is dead", s, "b")
		}
		if took := time.Since(died); took > lock.DefaultTTL+2*election.DefaultInterval {
			t.Errorf("the vacancy was seen after %v", took)
		}
	})
}

// TestObserveWithFaults: one node may be dead, hung or empty. Without a quorum the observer cannot tell, and does not
// report a vacancy.
func TestObserveWithFaults(t *testing.T) {
	for name, fault := range map[string]func(*locktest.FakeServer){
		"dead": (*locktest.FakeServer).Crash,
		"hung": (*locktest.FakeServer).Pause,
		"empty": func(s *locktest.FakeServer) {
			s.Crash()
			s.RestartEmpty(5 * time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			observing(t, func(t *testing.T, f *fleet, next func() seen) {
				want(t, "nobody campaigns", next(), "vacant")
				fault(f.servers[0])
				want(t, "nobody campaigns, one node of three", next(), "vacant")
				ctx, cancel := context.WithCancel(t.Context())
				a := f.run(ctx, f.process("a"), "a")
				time.Sleep(time.Second) // the first campaign waits for the faulty node's connection
				next()
				before := want(t, "a leads, one node of three", next(), "a")
				fault(f.servers[1])
				for range 30 { // longer than the TTL
					s := want(t, "two nodes of three", next(), "cannot tell")
					if !errors.Is(s.err, lock.ErrNoQuorum) || !strings.Contains(s.err.Error(), "node1") {
						t.Errorf("%v", s.err)
					}
					if s.Term != before.Term || s.Leader != before.Leader {
						t.Errorf("%+v, want the last answer %+v", s.Observation, before.Observation)
					}
				}
				cancel()
				<-a
			})
		})
	}
}

// TestObserveRenewalHangs: nobody leads while the nodes hang. The observer does not say that a leads, and its last
// answer about a has run out by then.
func TestObserveRenewalHangs(t *testing.T) {
	observing(t, func(t *testing.T, f *fleet, next func() seen) {
		ctx, cancel := context.WithCancel(t.Context())
		a := f.run(ctx, f.process("a"), "a", election.TTL(3*time.Second))
		b := f.run(ctx, f.process("b"), "b", election.TTL(3*time.Second))
		next()
		first := want(t, "a leads", next(), "a")
		for _, s := range f.servers[:2] {
			s.Pause()
		}
		next() // may have been answered before
		want(t, "two nodes hang", next(), "cannot tell")
		time.Sleep(3 * time.Second)
		f.wantLeader("")
		s := want(t, "two nodes hang, and the term is over", next(), "cannot tell")
		if s.NotAfter.After(time.Now()) {
			t.Errorf("a is said to lead until %v from now", time.Until(s.NotAfter))
		}
		for _, s := range f.servers[:2] {
			s.Resume()
		}
		time.Sleep(30 * time.Second)
		next()
		if s := next(); s.err != nil || s.String() != f.leader() || s.Term <= first.Term {
			t.Errorf("%q leads, and %q is seen in term %d after %d", f.leader(), s, s.Term, first.Term)
		}
		cancel()
		<-a
		<-b
	})
}

// told is a Peeker that says what a test tells it to, one thing after the other, and then that it is closed.
type told struct {
	sightings []lock.Sighting
	calls     int
}

func (p *told) Peek(context.Context, string) (lock.Sighting, error) {
	p.calls++
	if p.calls > len(p.sightings) {
		return lock.Sighting{}, lock.ErrClosed
	}
	return p.sightings[p.calls-1], nil
}

// TestObserveYieldsNoEarlierTerm: an answer that is older than another is an error. Of one leader, the higher of two
// lower bounds is the better one.
func TestObserveYieldsNoEarlierTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := lock.Holder{Instance: "a", Since: time.Unix(1, 0)}, lock.Holder{Instance: "b", Since: time.Unix(2, 0)}
		at := func(h lock.Holder, fence uint64) lock.Sighting {
			return lock.Sighting{Held: true, Holder: h, Fence: fence}
		}
		p := &told{sightings: []lock.Sighting{at(a, 5), at(a, 4), at(b, 7), at(a, 5), {}, at(a, 6), at(b, 6), at(a, 9)}}
		var got []seen
		for o, err := range election.Observe(t.Context(), p, "billing") {
			got = append(got, seen{o, err})
		}
		type step struct {
			leader  string
			term    uint64
			earlier bool
		}
		for i, w := range []step{{"a", 5, false}, {"a", 5, false}, {"b", 7, false}, {"b", 7, true}, {"", 7, false},
			{"", 7, true}, {"", 7, true}, {"a", 9, false}} {
			g := got[i]
			if g.Leader.Instance != w.leader || g.Term != w.term || errors.Is(g.err, election.ErrEarlierTerm) != w.earlier {
				t.Errorf("answer %d: %q in term %d, %v; want %+v", i, g.Leader.Instance, g.Term, g.err, w)
			}
		}
		if last := got[len(got)-1]; len(got) != 9 || !errors.Is(last.err, lock.ErrClosed) {
			t.Errorf("%d answers, the last %v", len(got), last.err)
		}
	})
}

// slow is a Peeker that takes a while, and counts its calls.
type slow struct {
	election.Peeker
	takes           time.Duration
	calls, underway atomic.Int32
	most            atomic.Int32
}

func (p *slow) Peek(ctx context.Context, name string) (lock.Sighting, error) {
	p.calls.Add(1)
	p.most.Store(max(p.most.Load(), p.underway.Add(1)))
	defer p.underway.Add(-1)
	select {
	case <-time.After(p.takes):
		return p.Peeker.Peek(ctx, name)
	case <-ctx.Done():
		return lock.Sighting{}, ctx.Err()
	}
}

// TestObservePolls at its interval, with jitter and one call at a time, and ends with its context during a call.
func TestObservePolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		p := &slow{Peeker: f.process("observer"), takes: 3 * time.Second}
		ctx, cancel := context.WithCancel(t.Context())
		next, done := watch(ctx, p, election.Interval(10*time.Second))
		pauses := make(map[time.Duration]bool)
		last := next()
		for range 100 {
			s := next()
			pause := s.SeenAt.Sub(last.SeenAt) - p.takes
			if pause < 7500*time.Millisecond || pause > 12500*time.Millisecond+time.Millisecond {
				t.Errorf("a pause of %v", pause)
			}
			pauses[pause] = true
			last = s
		}
		if len(pauses) < 90 || p.most.Load() != 1 {
			t.Errorf("%d different pauses of 100; %d calls at once", len(pauses), p.most.Load())
		}
		for called := p.calls.Load(); p.calls.Load() == called; { // until the next call is under way
			time.Sleep(time.Second)
		}
		cancelled := time.Now()
		cancel()
		<-done
		if took := time.Since(cancelled); took > 0 {
			t.Errorf("the end of the context took %v", took)
		}
	})
}

// TestObserveEnds where no later answer can be better, and when the loop breaks.
func TestObserveEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		closed := f.process("a")
		must(t, closed.Close())
		for name, c := range map[string]struct {
			peeker election.Peeker
			name   string
			opt    election.ObserveOption
			want   error
		}{
			"no peeker":   {nil, "billing", nil, lock.ErrInvalidOption},
			"no interval": {f.process("b"), "billing", election.Interval(0), lock.ErrInvalidOption},
			"bad name":    {f.process("c"), "a{b}", nil, lock.ErrInvalidResource},
			"closed":      {closed, "billing", nil, lock.ErrClosed},
			"unsupported": {unsupported{}, "billing", nil, errors.ErrUnsupported},
		} {
			answers := 0
			for _, err := range election.Observe(t.Context(), c.peeker, c.name, c.opt) {
				if answers++; !errors.Is(err, c.want) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if answers != 1 {
				t.Errorf("%s: %d answers", name, answers)
			}
		}
		for range election.Observe(t.Context(), f.process("d"), "billing") {
			break
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range election.Observe(ended, f.process("e"), "billing") {
			t.Error("an answer after the context's end")
		}
	})
}

type unsupported struct{}

func (unsupported) Peek(context.Context, string) (lock.Sighting, error) {
	return lock.Sighting{}, &lock.QuorumError{Op: lock.OpPeek, Errors: []*lock.NodeError{
		{Node: "r1", Op: lock.OpPeek, Err: errors.ErrUnsupported}, {Node: "r2", Err: driver.ErrUnreachable}}}
}
