package lease

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/attempt"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// attemptOn returns an attempt on nodes r1, r2 and so on, as a lease knows it.
func attemptOn(n int) *attempt.Attempt {
	e := &nodes.Set{Quorum: ballot.Quorum(n), Config: &nodes.Config{Clock: func() time.Duration { return 0 }}}
	for i := range n {
		e.Names = append(e.Names, "r"+string(rune('1'+i)))
	}
	return &attempt.Attempt{
		Terms: attempt.Terms{Start: locktrace.AttemptStart{Resource: "order:1001"}}, Set: e, Timeout: 500 * time.Millisecond,
		Grants: make([]attempt.Grant, n),
	}
}

// TestARenewalAccountsForEveryNode, whether the round was inconclusive, lost the lease or was cut short.
func TestARenewalAccountsForEveryNode(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer map[int]driver.ExtendReply
		cut    error
		want   string
	}{
		{"in time", map[int]driver.ExtendReply{0: driver.ExtendDone, 1: driver.ExtendRefilled}, nil,
			"1 of 5 nodes granted, 3 needed (r1: renewed; r2: refilled; r3: node cannot be reached; " +
				"r4: no answer within the node timeout of 500ms; r5: no answer"},
		{"lost", map[int]driver.ExtendReply{0: driver.ExtendGone, 1: driver.ExtendGone, 3: driver.ExtendTaken}, nil,
			`lock: lease lost: 3 of 5 nodes no longer hold "order:1001" (r1, r2: not held; r3: node cannot be ` +
				`reached; r4: not held; r5: not waited for)`},
		{"cut short", map[int]driver.ExtendReply{0: driver.ExtendDone}, errors.New("the caller left"),
			`cut short with 1 of 5 nodes having agreed (r1: renewed; r2: not waited for; r3: node cannot be reached; ` +
				`r4, r5: not waited for): the caller left`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := attemptOn(5)
			l := &Lease{attempt: a, set: a.Set, resource: "order:1001", expires: time.Minute}
			r := &renewal{
				attempt: a, lease: l, tally: ballot.Tally{Nodes: 5}, sets: ballot.Sets{Asked: 0b11111},
				ready: await.NewSignal(), extensions: make([]extending, 5),
			}
			r.count(2, 0, driver.ErrUnreachable)
			for i, answer := range c.answer {
				r.count(i, answer, nil)
			}
			l.conclude(r, c.cut)
			if !strings.Contains(r.err.Error(), c.want) {
				t.Errorf("says %v\nwant %s", r.err, c.want)
			}
			if c.cut != nil && (!errors.Is(r.err, c.cut) || errors.Is(r.err, lock.ErrNoQuorum)) {
				t.Errorf("%v does not match why it was cut short alone", r.err)
			}
			if e, ok := errors.AsType[*lock.QuorumError](r.err); ok {
				enginetest.WantEveryNode(t, e)
			}
		})
	}
}

// TestAReleaseAccountsForEveryNode that was asked.
func TestAReleaseAccountsForEveryNode(t *testing.T) {
	a := attemptOn(5)
	r := &releaseRound{attempt: a,
		undoings: make([]attempt.Undoing, 5)}
	r.sets.Asked = 0b11111
	r.count(nodes.ReleaseAnswer{From: 0, Reply: driver.ReleaseReply{Found: driver.FoundOwn}})
	r.count(nodes.ReleaseAnswer{From: 1})
	r.count(nodes.ReleaseAnswer{From: 2, Err: driver.ErrUnreachable})
	r.count(nodes.ReleaseAnswer{From: 3, Err: driver.ErrTimeout, Retried: true})
	_, err := r.outcome(nil)
	e, ok := errors.AsType[*lock.ReleaseError](err)
	if !ok || len(e.Votes) != 5 || e.Unknown != 3 {
		t.Fatalf("%v has not one vote for each node", err)
	}
	want := "unknown on 3 of 5 nodes; the lock expires there with its TTL at the latest (r1: released; r2: not held; " +
		"r3: node cannot be reached; r4: no answer within the node timeout; r5: not waited for)"
	if !strings.Contains(err.Error(), want) {
		t.Errorf("says %v\nwant %s", err, want)
	}
}
