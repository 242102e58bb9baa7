package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/quorum"
)

// called is a node that has only a name.
type called struct {
	driver.Node
	name string
}

func (c called) Name() string { return c.name }

// attemptOn returns an attempt on nodes r1, r2 and so on.
func attemptOn(nodes int) *attempt {
	e := &set{quorum: quorum.Of(nodes), cfg: &config{clock: func() time.Duration { return 0 }}}
	a := &attempt{set: e, timeout: 500 * time.Millisecond, grants: make([]grant, nodes)}
	a.start.Resource = "order:1001"
	a.ballot = ballot{
		resource: "order:1001", timeout: a.timeout, tally: quorum.Tally{Nodes: nodes},
	}
	for i := range a.grants {
		name := "r" + string(rune('1'+i))
		e.names = append(e.names, name)
		a.grants[i].node = &node{Node: called{name: name}}
		a.grants[i].round, a.grants[i].index = a, i
	}
	a.ballot.names = e.names
	return a
}

// adds fails the test unless the error counts every node once.
func adds(t *testing.T, e *lock.QuorumError) {
	t.Helper()
	sum := 0
	for _, v := range []lock.Verdict{lock.VerdictGranted, lock.VerdictRefused, lock.VerdictRefilled, lock.VerdictFailed,
		lock.VerdictUnheard, lock.VerdictNotAsked} {
		sum += e.Count(v)
	}
	if sum != e.Nodes {
		t.Errorf("%d of %d nodes are accounted for: %v", sum, e.Nodes, e)
	}
}

func TestABallotAccountsForEveryNode(t *testing.T) {
	a := attemptOn(5)
	b := &a.ballot
	b.asked = 0b01111
	b.count(1, driver.AcquireReply{}, driver.ErrUnreachable)
	b.count(0, driver.AcquireReply{}, nil)
	b.count(2, driver.AcquireReply{Granted: true}, nil)
	e := b.quorumError()
	adds(t, e)
	want := `lock: order:1001: no quorum: 1 of 5 nodes granted, 3 needed (r1: refused; r2: node cannot be reached; ` +
		`r3: granted; r4: not waited for; r5: not asked). Check the nodes with "lockscope doctor".`
	if e.Error() != want {
		t.Errorf("says %s\nwant %s", e, want)
	}
	if !errors.Is(e, lock.ErrNoQuorum) || !errors.Is(e, driver.ErrUnreachable) {
		t.Errorf("%v does not match its errors", e)
	}
	b.timeOut()
	if e := b.quorumError(); !strings.Contains(e.Error(), "r4: no answer within the node timeout of 500ms") {
		t.Errorf("after the time was up: %v", e)
	}
}

// TestASplitVoteIsNoFaultOfTheNodes: all of them answered.
func TestASplitVoteIsNoFaultOfTheNodes(t *testing.T) {
	a := attemptOn(3)
	a.ballot.asked = 0b111
	a.ballot.count(0, driver.AcquireReply{Granted: true}, nil)
	a.ballot.count(1, driver.AcquireReply{}, nil)
	a.ballot.count(2, driver.AcquireReply{}, nil)
	e := a.ballot.quorumError()
	adds(t, e)
	if s := e.Error(); strings.Contains(s, "doctor") ||
		!strings.Contains(s, "(r1: granted; r2, r3: refused). Try again") {
		t.Errorf("says %s", s)
	}
}

// TestARaiseBlamesNobodyWhoAgreed: of the nodes that were behind, one agreed, one refused and one did not answer.
func TestARaiseBlamesNobodyWhoAgreed(t *testing.T) {
	a := attemptOn(5)
	a.ballot.asked = 0b11111
	a.ballot.count(0, driver.AcquireReply{}, driver.ErrUnreachable)
	a.ballot.count(1, driver.AcquireReply{}, nil)
	round := &raiseRound{a: a, ready: await.NewSignal(), pending: 3, sets: nodeSets{asked: 0b11100}}
	behind := []*raising{{g: &a.grants[2]}, {g: &a.grants[3]}, {g: &a.grants[4]}}
	round.count(2, nil)
	round.count(3, lock.ErrNotHeld)
	err := round.close(behind)
	e, ok := errors.AsType[*lock.QuorumError](err)
	if !ok {
		t.Fatal(err)
	}
	adds(t, e)
	want := "no quorum for raise: 1 of 5 nodes granted, 3 needed (r1: node cannot be reached; r2: not held; r3: " +
		"granted; r4: lock: no longer held; r5: no answer within the node timeout of 500ms)"
	if !strings.Contains(e.Error(), want) {
		t.Errorf("says %s\nwant %s", e, want)
	}
}

// TestAnErrorWithoutVotes, from another implementation of Locker, only counts the nodes that it does not name.
func TestAnErrorWithoutVotes(t *testing.T) {
	e := &lock.QuorumError{
		Resource: "order:1001", Op: lock.OpExtend, Nodes: 5, Quorum: 3, Granted: 1, Refused: 1,
		Errors: []*lock.NodeError{{Node: "r4", Op: lock.OpExtend, Err: driver.ErrTimeout}},
	}
	adds(t, e)
	want := `lock: order:1001: no quorum for extend: 1 of 5 nodes granted, 3 needed (1 refused; ` +
		`r4: no answer within the node timeout; 2 not waited for). Check the nodes with "lockscope doctor".`
	if e.Error() != want {
		t.Errorf("says %s\nwant %s", e, want)
	}
	if s := (&lock.QuorumError{}).Error(); s != `lock: no quorum: 0 of 0 nodes granted, 0 needed. Check the nodes `+
		`with "lockscope doctor".` {
		t.Errorf("an empty one says %s", s)
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
			l := &lease{attempt: a, set: a.set, resource: "order:1001", expires: time.Minute}
			r := &renewal{
				attempt: a, lease: l, tally: quorum.Tally{Nodes: 5}, sets: nodeSets{asked: 0b11111},
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
				adds(t, e)
			}
		})
	}
}

// TestAReleaseAccountsForEveryNode that was asked.
func TestAReleaseAccountsForEveryNode(t *testing.T) {
	a := attemptOn(5)
	r := &releaseRound{attempt: a,
		undoings: make([]undoing, 5)}
	r.sets.asked = 0b11111
	r.count(releaseAnswer{from: 0, reply: driver.ReleaseReply{Found: driver.FoundOwn}})
	r.count(releaseAnswer{from: 1})
	r.count(releaseAnswer{from: 2, err: driver.ErrUnreachable})
	r.count(releaseAnswer{from: 3, err: driver.ErrTimeout, retried: true})
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
