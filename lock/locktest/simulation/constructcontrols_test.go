//go:build !race

package simulation

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/election"
)

// mustFindIn is mustFind for a construct.
func mustFindIn(t *testing.T, kind lock.Kind, invariant string, s scope, pl plant) {
	t.Helper()
	mustMatchIn(t, regexp.MustCompile(": "+invariant+" "), 1,
		func(seed uint64) (*plan, plant) { return newConstructPlan(seed, kind, s), pl })
}

// forgetfulNodes forget locks that are still valid, and vote.
var forgetfulNodes = scope{nodes: []int{3}, alwaysBad: true, losses: []faultKind{wiped}, resources: 1, crowds: true}

// A node that forgets and votes lets two lead, lets two sets overlap, and gives out one permit too many.
func TestSimulationNoticesMissingQuarantineOfConstructs(t *testing.T) {
	for kind, invariant := range map[lock.Kind]string{
		lock.KindElection: "E1", lock.KindSet: "S1", lock.KindSemaphore: "P1",
	} {
		t.Run(string(kind), func(t *testing.T) {
			mustFindIn(t, kind, invariant, forgetfulNodes, plant{quarantine: -1})
		})
	}
}

// Without the write-back, terms, the fences of a set and those of a slot fall.
func TestSimulationNoticesMissingWriteBackOfConstructs(t *testing.T) {
	for kind, invariant := range map[lock.Kind]string{
		lock.KindElection: "E2", lock.KindSet: "S2", lock.KindSemaphore: "P2",
	} {
		t.Run(string(kind), func(t *testing.T) {
			mustFindIn(t, kind, invariant, scope{nodes: []int{3, 5}, noWipes: true, resources: 1},
				plant{prepare: apart, wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode {
					return noWriteBack{n}
				}})
		})
	}
}

// A leader whose context waits for the renewal to fail, as that of client-go did, leads beside the next one.
func TestSimulationNoticesTermWithoutATimer(t *testing.T) {
	pl := plant{campaign: func(ctx context.Context, l lock.Locker, name string, opts ...election.Option) (
		leadership, error,
	) {
		term, err := election.Campaign(ctx, l, name, opts...)
		if err != nil {
			return nil, err
		}
		return untimed{term}, nil
	}}
	for _, invariant := range []string{"E1", "E4"} {
		t.Run(invariant, func(t *testing.T) {
			mustFindIn(t, lock.KindElection, invariant, scope{alwaysBad: true, resources: 1, deaths: true}, pl)
		})
	}
}

// untimed is a term whose context never ends by itself.
type untimed struct{ election.Term }

func (t untimed) Context() context.Context { return context.WithoutCancel(t.Term.Context()) }

// A campaign that is cancelled must not go on, as those of etcd's clients did, and become leader later.
func TestSimulationNoticesCampaignThatGoesOn(t *testing.T) {
	mustFindIn(t, lock.KindElection, "E3", scope{resources: 1}, plant{campaign: goesOn})
}

func goesOn(ctx context.Context, l lock.Locker, name string, opts ...election.Option) (leadership, error) {
	type result struct {
		term leadership
		err  error
	}
	done := make(chan result, 1)
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), simLateBy)
	go func() {
		defer cancel()
		term, err := realCampaign(longer, l, name, opts...)
		done <- result{term, err}
	}()
	select {
	case r := <-done:
		return r.term, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.err == nil {
				_ = r.term.Resign(context.WithoutCancel(ctx))
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// An observer must not say more than the nodes do.
func TestSimulationNoticesWrongSightings(t *testing.T) {
	s := scope{noWipes: true, resources: 1}
	for name, wrong := range map[string]func(*driver.PeekReply){
		"an end that is too early": func(r *driver.PeekReply) { r.TTL /= 2 },
		"a term that is too high":  func(r *driver.PeekReply) { r.Counter += 1e9 },
	} {
		t.Run(name, func(t *testing.T) {
			mustFindIn(t, lock.KindElection, "E5", s, peeking(func(n *wrongPeek) { n.reply = wrong }))
		})
	}
	t.Run("an answer from before", func(t *testing.T) {
		mustFindIn(t, lock.KindElection, "E5", s, peeking(func(n *wrongPeek) { n.old = true }))
	})
}

// An observer must not ask for the lock in order to learn who has it.
func TestSimulationNoticesPeekThatAcquires(t *testing.T) {
	mustFindIn(t, lock.KindElection, "E6", scope{resources: 1}, peeking(func(n *wrongPeek) { n.acquires = true }))
}

// peeking is for observers only.
func peeking(defect func(*wrongPeek)) plant {
	return plant{wrap: func(h *history, client int, n driver.BlockingNode) driver.BlockingNode {
		if _, observes := n.(onlooker); !observes {
			return n
		}
		w := &wrongPeek{BlockingNode: n}
		defect(w)
		return w
	}}
}

// wrongPeek is a node whose Peek has a defect. One peek of a node is under way at a time.
type wrongPeek struct {
	driver.BlockingNode
	reply    func(*driver.PeekReply)
	old      bool
	acquires bool
	last     driver.PeekReply
}

func (n *wrongPeek) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	if n.acquires {
		got, err := n.Acquire(ctx, driver.AcquireRequest{Key: req.Key, Token: strings.Repeat("o", 32), TTL: simMaxTTL})
		return driver.PeekReply{Held: !got.Granted, Counter: got.Counter, TTL: got.TTL, Holder: got.Holder}, err
	}
	reply, err := n.BlockingNode.Peek(ctx, req)
	if n.reply != nil {
		n.reply(&reply)
	}
	if n.old && err == nil {
		reply, n.last = n.last, reply
	}
	return reply, err
}
