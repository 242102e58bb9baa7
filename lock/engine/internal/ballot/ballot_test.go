package ballot

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/enginetest"
)

// ballotOn is that of an attempt on nodes r1, r2 and so on.
func ballotOn(nodes int) *Ballot {
	b := &Ballot{Resource: "order:1001", Timeout: 500 * time.Millisecond, Tally: Tally{Nodes: nodes}}
	for i := range nodes {
		b.Names = append(b.Names, "r"+string(rune('1'+i)))
	}
	return b
}

func TestABallotAccountsForEveryNode(t *testing.T) {
	b := ballotOn(5)
	b.Asked = 0b01111
	b.Count(1, driver.AcquireReply{}, driver.ErrUnreachable)
	b.Count(0, driver.AcquireReply{}, nil)
	b.Count(2, driver.AcquireReply{Granted: true}, nil)
	e := b.quorumError()
	enginetest.WantEveryNode(t, e)
	want := `lock: order:1001: no quorum: 1 of 5 nodes granted, 3 needed (r1: refused; r2: node cannot be reached; ` +
		`r3: granted; r4: not waited for; r5: not asked). Check the nodes with "lockscope doctor".`
	if e.Error() != want {
		t.Errorf("says %s\nwant %s", e, want)
	}
	if !errors.Is(e, lock.ErrNoQuorum) || !errors.Is(e, driver.ErrUnreachable) {
		t.Errorf("%v does not match its errors", e)
	}
	b.TimeOut()
	if e := b.quorumError(); !strings.Contains(e.Error(), "r4: no answer within the node timeout of 500ms") {
		t.Errorf("after the time was up: %v", e)
	}
}

// TestASplitVoteIsNoFaultOfTheNodes: all of them answered.
func TestASplitVoteIsNoFaultOfTheNodes(t *testing.T) {
	b := ballotOn(3)
	b.Asked = 0b111
	b.Count(0, driver.AcquireReply{Granted: true}, nil)
	b.Count(1, driver.AcquireReply{}, nil)
	b.Count(2, driver.AcquireReply{}, nil)
	e := b.quorumError()
	enginetest.WantEveryNode(t, e)
	if s := e.Error(); strings.Contains(s, "doctor") ||
		!strings.Contains(s, "(r1: granted; r2, r3: refused). Try again") {
		t.Errorf("says %s", s)
	}
}

// TestAnErrorWithoutVotes, from another implementation of Locker, only counts the nodes that it does not name.
func TestAnErrorWithoutVotes(t *testing.T) {
	e := &lock.QuorumError{
		Resource: "order:1001", Op: lock.OpExtend, Nodes: 5, Quorum: 3, Granted: 1, Refused: 1,
		Errors: []*lock.NodeError{{Node: "r4", Op: lock.OpExtend, Err: driver.ErrTimeout}},
	}
	enginetest.WantEveryNode(t, e)
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

// TestANodeVotesOnce: an answer that comes twice, or after the node was counted as failed, is no second vote.
func TestANodeVotesOnce(t *testing.T) {
	granted := driver.AcquireReply{Granted: true, Counter: 7}
	b := ballotOn(3)
	b.Asked = 0b111
	b.Count(0, granted, nil)
	b.Count(0, granted, nil)
	if b.Tally.Won() || b.Answered != 1 {
		t.Errorf("one node granted, and %+v", b.Tally)
	}
	b.TimeOut()
	b.Count(1, granted, nil)
	if b.Tally.Won() || b.Tally.Failed != 2 {
		t.Errorf("two nodes had no answer in time, and %+v", b.Tally)
	}
}
