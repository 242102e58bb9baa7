package attempt

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// TestARunEndsWhereAQuorumsCountersEnd: the fence is the largest counter of the grants. The run holds only the fences
// above it that a quorum will not grant again.
func TestARunEndsWhereAQuorumsCountersEnd(t *testing.T) {
	type run struct{ first, fences uint64 }
	for name, c := range map[string]struct {
		grants      []run
		fence, last uint64
	}{
		"alike":         {[]run{{100, 64}, {100, 64}, {100, 64}}, 100, 163},
		"apart":         {[]run{{100, 64}, {110, 64}, {90, 64}}, 110, 163},
		"one alone":     {[]run{{100, 64}, {100, 1}, {100, 1}}, 100, 100},
		"two of three":  {[]run{{150, 14}, {100, 64}, {0, 0}}, 150, 163},
		"without a run": {[]run{{100, 1}, {100, 1}, {0, 0}}, 100, 100},
	} {
		a := &Attempt{Set: &nodes.Set{Quorum: 2}, Grants: make([]Grant, len(c.grants))}
		for i, g := range c.grants {
			if g.first > 0 {
				a.Grants[i].granted(g.first, g.fences)
			}
		}
		if err := a.agreeOnFence(t.Context()); err != nil || a.raised {
			t.Errorf("%s: %v, raised %v", name, err, a.raised)
		}
		if a.fence != c.fence || a.lastFence() != c.last {
			t.Errorf("%s: %d to %d, want %d to %d", name, a.fence, a.lastFence(), c.fence, c.last)
		}
	}
}

// attemptOn returns an attempt on nodes r1, r2 and so on.
func attemptOn(n int) *Attempt {
	e := &nodes.Set{Quorum: ballot.Quorum(n)}
	a := &Attempt{Set: e, Timeout: 500 * time.Millisecond, Grants: make([]Grant, n)}
	a.Start.Resource = "order:1001"
	for i := range a.Grants {
		e.Names = append(e.Names, "r"+string(rune('1'+i)))
		a.Grants[i].round, a.Grants[i].Index = a, i
	}
	a.ballot = ballot.Ballot{
		Resource: "order:1001", Names: e.Names, Timeout: a.Timeout, Tally: ballot.Tally{Nodes: n},
	}
	return a
}

// TestARaiseBlamesNobodyWhoAgreed: of the nodes that were behind, one agreed, one refused and one did not answer.
func TestARaiseBlamesNobodyWhoAgreed(t *testing.T) {
	a := attemptOn(5)
	a.ballot.Asked = 0b11111
	a.ballot.Count(0, driver.AcquireReply{}, driver.ErrUnreachable)
	a.ballot.Count(1, driver.AcquireReply{}, nil)
	round := &raiseRound{a: a, ready: await.NewSignal(), pending: 3, sets: ballot.Sets{Asked: 0b11100}}
	behind := []*raising{{g: &a.Grants[2]}, {g: &a.Grants[3]}, {g: &a.Grants[4]}}
	round.count(2, nil)
	round.count(3, lock.ErrNotHeld)
	err := round.close(behind)
	e, ok := errors.AsType[*lock.QuorumError](err)
	if !ok {
		t.Fatal(err)
	}
	enginetest.WantEveryNode(t, e)
	want := "no quorum for raise: 1 of 5 nodes granted, 3 needed (r1: node cannot be reached; r2: not held; r3: " +
		"granted; r4: lock: not held; r5: no answer within the node timeout of 500ms)"
	if !strings.Contains(e.Error(), want) {
		t.Errorf("says %s\nwant %s", e, want)
	}
}
