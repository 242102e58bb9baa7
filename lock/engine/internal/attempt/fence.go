package attempt

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/callqueue"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// agreeOnFence makes a quorum's counters at least as high as the largest of the
// grants', which becomes the fencing token: any two quorums share a node, and
// there the later grant counts on from the earlier one's token. A counter is only
// raised while the key is still that very grant: a key that was lost and came back
// could belong to a later point in time. Usually the counters are equal already, and
// nothing is sent. All grants known by now take part in the maximum: none that counts
// towards the quorum may exceed the token.
//
// Without that: A has counted to 10, B and C to 5. A and B grant lease 1, whose token is 11. Its keys expire, and B and C
// grant lease 2, whose token is 7: a resource that has seen 11 refuses the present holder (counterexample 35 of
// lock/proof/spec).
//
// A grant may reserve a run of fences. The lease may use those that follow the token
// up to the end that a quorum's counters have reached: with the end of one node, the fences beyond what the others reserved
// would be granted a second time by them (counterexample 8).
func (a *Attempt) agreeOnFence(ctx context.Context) error {
	var room [8]uint64
	ends := room[:0] // of the grants' runs
	var target uint64
	for i := range a.Grants {
		first, last := a.Grants[i].fences()
		if first == 0 {
			continue
		}
		ends = append(ends, last)
		if first > a.fence {
			a.fence, target = first, last
		}
	}
	if a.fence == 0 {
		return a.withoutFence()
	}
	slices.Sort(ends)
	if len(ends) >= a.Set.Quorum {
		if end := ends[len(ends)-a.Set.Quorum]; end >= a.fence {
			a.run = end - a.fence + 1
			return nil
		}
	}
	a.raised = true
	if err := a.raise(ctx, target); err != nil {
		return err
	}
	a.run = target - a.fence + 1
	return nil
}

// withoutFence is the error for a Fenced caller on a driver without counters; nil for others.
func (a *Attempt) withoutFence() error {
	if !a.Opts.Fenced {
		return nil
	}
	return fmt.Errorf("%w: Fenced: locks of %s have no fencing tokens here: use another driver, or do without",
		lock.ErrInvalidOption, a.Set.Backend.System)
}

// lastFence is the end of the run that a quorum's counters have reached.
func (a *Attempt) lastFence() uint64 { return a.fence + max(a.run, 1) - 1 }

// raise raises the counters below target until a quorum has reached it.
func (a *Attempt) raise(ctx context.Context, target uint64) error {
	round := &raiseRound{a: a, ready: await.NewSignal()}
	var behind []*raising
	for i := range a.Grants {
		g := &a.Grants[i]
		switch first, last := g.fences(); {
		case first == 0:
		case last >= target:
			round.agreed++
			round.sets.Granted |= 1 << i
		default:
			behind = append(behind, &raising{g: g, round: round, req: driver.RaiseRequest{
				Key: a.Req.Key, Token: a.Req.Token, Counter: first, Fence: target, Mode: a.Req.Mode,
			}})
		}
	}
	round.pending = len(behind)
	for _, r := range behind {
		round.sets.Asked |= 1 << r.g.Index
	}
	for _, r := range behind {
		r.deadline = time.Now().Add(a.Timeout)
		r.g.Calls.Do(r)
	}
	if err := a.Set.Timers.Await(ctx, a.Set.Done, a.Timeout, round.ready, round.decided); err != nil {
		return err
	}
	return round.close(behind)
}

// raiseRound collects the answers of the nodes whose counters are behind.
type raiseRound struct {
	a     *Attempt
	ready await.Signal

	mu      sync.Mutex
	agreed  int
	pending int
	closed  bool
	sets    ballot.Sets // of those that granted the lock
	errs    ballot.Failures
}

func (r *raiseRound) count(node int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending--
	switch {
	case r.closed:
	case err != nil:
		r.errs = append(r.errs, r.a.Set.Names.Failure(node, lock.OpRaise, err))
	default:
		r.agreed++
		r.sets.Granted |= 1 << node
	}
	r.ready.Set()
}

// decided reports that a quorum agrees, or that all nodes have answered.
func (r *raiseRound) decided() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agreed >= r.a.Set.Quorum || r.pending == 0
}

// close ends the round. It fails unless a quorum agrees.
func (r *raiseRound) close(behind []*raising) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.agreed >= r.a.Set.Quorum {
		return nil
	}
	errs, failed := r.errs, uint64(0)
	for _, e := range errs {
		failed |= 1 << e.Index
	}
	for _, b := range behind {
		if (r.sets.Granted|failed)&(1<<b.g.Index) == 0 {
			errs = append(errs, r.a.Set.Names.Failure(b.g.Index, lock.OpRaise, ballot.ErrSilent(r.a.Timeout)))
		}
	}
	sets, lost := r.inBallot()
	return r.a.Set.Names.NoQuorum(r.a.Start.Resource, lock.OpRaise, sets, append(errs, lost...))
}

// inBallot adds what nodes without a grant to raise did in the ballot: they refused, failed, or had not answered.
func (r *raiseRound) inBallot() (s ballot.Sets, lost ballot.Failures) {
	a := r.a
	s = r.sets
	here := s.Asked | s.Granted
	a.mu.Lock()
	defer a.mu.Unlock()
	s.Asked |= a.ballot.Asked
	s.Refused |= a.ballot.Refused &^ here
	for _, e := range a.ballot.Failures {
		if here&(1<<e.Index) == 0 {
			lost = append(lost, e)
		}
	}
	return s, lost
}

// raising is one node whose counter is behind.
type raising struct {
	g        *Grant
	round    *raiseRound
	req      driver.RaiseRequest
	deadline time.Time
	command  nodes.Command
}

func (r *raising) Start(callqueue.Waiter) {
	a := r.round.a
	r.command = r.g.Begin(a.ctx, a.Traces, a.event(lock.OpRaise))
	r.g.Raise(driver.Call{Context: r.command.Ctx, Deadline: r.deadline}, &r.req, r)
}

// Answer implements driver.Answer.
func (r *raising) Answer(raised bool, err error) {
	a := r.round.a
	r.g.End(r.command, a.Traces, a.event(lock.OpRaise), nodes.VerdictOf(raised), err)
	if err == nil && !raised {
		err = lock.ErrNotHeld
	}
	r.round.count(r.g.Index, err)
	r.g.Calls.Next()
}
