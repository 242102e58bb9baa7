//go:build !race

package simulation

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// The tests below plant a defect, or break an assumption of the promise, and fail if the simulation does not detect it.
// They show that TestSimulation would find such a fault. Without them its silence could mean that it does not look.
//
// The race detector has nothing to find in a planted defect, and makes finding it take minutes. These tests are not
// built with it.

// mustFind runs histories with a defect until one violates the invariant, at most as many as TestSimulation runs. The
// first violation has another seed each time, because the seed does not fix the order of goroutines that run at one
// instant. Some defects show in one history of several hundred.
func mustFind(t *testing.T, invariant string, s scope, pl plant) {
	t.Helper()
	mustMatch(t, regexp.MustCompile(": "+invariant+" "), 1, s, pl)
}

func mustMatch(t *testing.T, violation *regexp.Regexp, first uint64, s scope, pl plant) {
	t.Helper()
	mustMatchIn(t, violation, first, func(seed uint64) (*plan, plant) { return newPlan(seed, s), pl })
}

func mustMatchIn(t *testing.T, violation *regexp.Regexp, first uint64, make maker) {
	t.Helper()
	for seed := first; seed < first+simHistories; seed += 25 {
		found, _, _ := search(t, seed, 25, 25, make)
		for _, out := range found {
			for _, v := range out.violations {
				if violation.MatchString(v) {
					t.Logf("noticed with seed %d: %s", out.seed, v)
					return
				}
			}
		}
	}
	t.Errorf("%d histories with the defect, and %v was never violated", simHistories, violation)
}

// The owner token must be new for every attempt. With one token for all, a late release of one attempt undoes the next,
// and a key that was left behind counts as a vote.
func TestSimulationNoticesReusedToken(t *testing.T) {
	mustFind(t, "I1", scope{alwaysBad: true},
		plant{wrap: func(_ *history, client int, n driver.BlockingNode) driver.BlockingNode {
			return oneToken{n, strings.Repeat(string(rune('a'+client)), 32)}
		}})
}

type oneToken struct {
	driver.BlockingNode
	token string
}

func (n oneToken) Acquire(ctx context.Context, req driver.AcquireRequest) (driver.AcquireReply, error) {
	req.Token = n.token
	return n.BlockingNode.Acquire(ctx, req)
}

func (n oneToken) Raise(ctx context.Context, req driver.RaiseRequest) (bool, error) {
	req.Token = n.token
	return n.BlockingNode.Raise(ctx, req)
}

func (n oneToken) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	req.Token = n.token
	return n.BlockingNode.Extend(ctx, req)
}

func (n oneToken) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	req.Token, req.Tombstone = n.token, 0 // a tombstone would bar the token for good
	return n.BlockingNode.Release(ctx, req)
}

// The quorum must agree on the fence. If counters differ and the largest is not written back, the next quorum counts
// from a smaller one. The counters are far ahead of the clock, whose floor would hide this: only the write-back
// protects.
func TestSimulationNoticesMissingWriteBack(t *testing.T) {
	s := scope{nodes: []int{3, 5}, noWipes: true, alwaysBad: true}
	mustFind(t, "I2", s, plant{prepare: apart,
		wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode {
			return noWriteBack{n}
		}})
	found, _, _ := search(t, 1, 300, 1, func(seed uint64) (*plan, plant) {
		return newPlan(seed, s),
			plant{prepare: apart}
	})
	for _, out := range found {
		if text := strings.Join(out.violations, "\n"); strings.Contains(text, "I2") {
			t.Errorf("counters alone, without a clock, seed %d:\n%s", out.seed, text)
		}
	}
}

type noWriteBack struct{ driver.BlockingNode }

func (n noWriteBack) Raise(context.Context, driver.RaiseRequest) (bool, error) { return true, nil }

func (n noWriteBack) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	req.Refill = false // a refill would write it back, too
	return n.BlockingNode.Extend(ctx, req)
}

// Clocks must run at nearly the same rate. Nodes that are 10 % fast forget a lock while its holder, who allows for 1 %,
// still relies on it. The bound is on the rate of one to the other: clients 1 % slow and nodes 1 % fast are too far
// apart.
func TestSimulationNoticesClocksOutOfBounds(t *testing.T) {
	mustFind(t, "I1", scope{rate: 1.1, holdLong: true, resources: 1}, plant{})
	t.Run("one percent each", func(t *testing.T) {
		mustFind(t, "I1", scope{rate: 1.01, client: 0.99, holdLong: true, resources: 1}, plant{})
	})
}

// An extend must not take effect after the release of its lease. If it restores the key despite the tombstone and
// counts as a vote, the lease is resurrected. (The vote alone is harmless while the lease is valid by its own clock and
// no node forgets: no other client can get a quorum.)
func TestSimulationNoticesExtendThatCreates(t *testing.T) {
	mustFind(t, "I6", scope{alwaysBad: true, noWipes: true},
		plant{wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode {
			return extendCreates{n}
		}})
}

type extendCreates struct{ driver.BlockingNode }

func (n extendCreates) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	req.Refill = true
	answer, err := n.BlockingNode.Extend(ctx, req)
	if answer == driver.ExtendRefilled {
		answer = driver.ExtendDone
	}
	return answer, err
}

func (n extendCreates) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	req.Tombstone = 0 // extend ignores it, so it may as well be missing
	return n.BlockingNode.Release(ctx, req)
}

// Release must leave a tombstone where an acquire may still arrive. Without one, a late acquire locks the resource for
// nobody until its TTL has passed.
func TestSimulationNoticesMissingTombstone(t *testing.T) {
	mustFind(t, "I6", scope{alwaysBad: true, noWipes: true},
		plant{wrap: func(_ *history, _ int, n driver.BlockingNode) driver.BlockingNode {
			return noTombstone{n}
		}})
}

type noTombstone struct{ driver.BlockingNode }

func (n noTombstone) Release(ctx context.Context, req driver.ReleaseRequest) (driver.ReleaseReply, error) {
	req.Tombstone = 0
	return n.BlockingNode.Release(ctx, req)
}

func (n noTombstone) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	req.Refill = false // leaves only a late acquire as the cause
	return n.BlockingNode.Extend(ctx, req)
}

// A node that forgot its locks must not vote before they would have expired: its vote may give a second holder a
// majority.
func TestSimulationNoticesMissingQuarantine(t *testing.T) {
	s := scope{nodes: []int{3, 5}, alwaysBad: true, losses: []faultKind{wiped}, resources: 1}
	mustFind(t, "I1", s, plant{quarantine: -1})
	t.Run("too short", func(t *testing.T) { mustFind(t, "I1", s, plant{quarantine: 200 * time.Millisecond}) })
}

// Each rule of the guard prevents a history that goes wrong without it.
func TestSimulationNoticesGuardFlaws(t *testing.T) {
	for name, flaw := range guardFlaws {
		t.Run(name, func(t *testing.T) {
			mustMatch(t, regexp.MustCompile(": I1 "), max(guardFlawSeeds[name], 1), flaw.scope, flaw.plant)
		})
	}
}
