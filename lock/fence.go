package lock

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// agreeOnFence makes a quorum's counters at least as high as the largest of the
// grants', which becomes the fencing token: any two quorums share a node, and
// there the later grant counts on from the earlier one's token. A counter is only
// raised while the key is still that very grant; one that came back after being
// lost could belong to a later point in time. In the usual case the counters are
// equal already and nothing is sent. All grants known by now take part in the
// maximum: one that counts towards the quorum must not exceed the token.
func (a *attempt) agreeOnFence(ctx context.Context) error {
	var counters []uint64 // 0 where not granted
	for i := range a.grants {
		state, counter := a.grants[i].known()
		if state != grantHeld {
			counter = 0
		}
		counters = append(counters, counter)
	}
	a.counter = slices.Max(counters)
	if a.counter == 0 {
		return nil // a driver that has no counters
	}
	agreed := 0
	var behind []int
	for i, counter := range counters {
		switch counter {
		case 0:
		case a.counter:
			agreed++
		default:
			behind = append(behind, i)
		}
	}
	if agreed >= a.engine.quorum {
		return nil
	}
	a.raised = true
	return a.raise(ctx, agreed, behind)
}

func (a *attempt) raise(ctx context.Context, agreed int, behind []int) error {
	acks := make(chan error, len(behind))
	in := a.engine.newRound(ctx, len(behind))
	for _, i := range behind {
		g := &a.grants[i]
		g.calls.do(a.engine.workers, func() {
			defer in.done()
			_, counter := g.known()
			req := driver.RaiseRequest{Key: a.key, Token: a.token, Counter: counter, Fence: a.counter}
			var raised bool
			err := g.call(in.ctx, a.ts, a.event(OpRaise), func(ctx context.Context) (v Verdict, err error) {
				raised, err = g.Raise(ctx, req)
				return verdictOf(raised), err
			})
			if err == nil && !raised {
				err = ErrNotHeld
			}
			if err != nil {
				err = &NodeError{Node: g.Name(), Op: OpRaise, Err: err}
			}
			acks <- err
		})
	}
	timer := time.NewTimer(a.engine.cfg.NodeTimeout)
	defer timer.Stop()
	failure := a.quorumError(OpRaise)
	for pending := len(behind); pending > 0; pending-- {
		select {
		case err := <-acks:
			if node := (*NodeError)(nil); errors.As(err, &node) {
				failure.Errors = append(failure.Errors, node)
			} else if agreed++; agreed >= a.engine.quorum {
				return nil
			}
		case <-timer.C:
			pending = 0
		case <-ctx.Done():
			return contextError(ctx)
		}
	}
	failure.Granted = agreed
	for _, i := range behind {
		failure.addSilent(a.grants[i].Name())
	}
	return failure
}
