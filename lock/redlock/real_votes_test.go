package redlock_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/redlock"
)

// accountsFor fails the test unless the error reports every node's answer.
func accountsFor(t *testing.T, f *realNodes, err error) {
	t.Helper()
	wantErr(t, err, lock.ErrNoQuorum)
	e, ok := errors.AsType[*lock.QuorumError](err)
	if !ok || len(e.Votes) != len(f.servers) {
		t.Fatalf("%v has not one vote for each node", err)
	}
	sum := 0
	for _, v := range []lock.Verdict{
		lock.VerdictGranted, lock.VerdictRefused, lock.VerdictFailed, lock.VerdictUnheard, lock.VerdictNotAsked,
	} {
		sum += e.Count(v)
	}
	if sum != e.Nodes || e.Count(lock.VerdictFailed) != len(e.Errors) || e.Count(lock.VerdictGranted) != e.Granted {
		t.Errorf("the votes do not add up to %d nodes: %+v", e.Nodes, e.Votes)
	}
	for i, s := range f.servers {
		if e.Votes[i].Node != s.Addr() {
			t.Errorf("vote %d is of node %s, want %s", i, e.Votes[i].Node, s.Addr())
		}
		if !strings.Contains(err.Error(), s.Addr()) {
			t.Errorf("nothing is said of node %s: %v", s.Addr(), err)
		}
	}
}

// TestRealNoQuorumAccountsForEveryNode: one node is dead, one hangs, one is read-only, one lost its data and one works.
// Then all are dead.
func TestRealNoQuorumAccountsForEveryNode(t *testing.T) {
	f := startNodes(t, 5)
	f.vouchForAll()
	l := f.locker(redlock.WithRestartQuarantine(lock.DefaultTTL))
	f.warm(l)
	f.kill(0)
	f.pause(1)
	f.becomeReplica(2, startNodes(t, 1))
	f.kill(3)
	f.wipe(3)
	f.restart(3)
	for range 20 {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		accountsFor(t, f, err)
	}
	t.Log(errOf(l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))))
	f.resume(1)
	f.kill(1, 2, 3, 4)
	for range 20 {
		_, err := l.Acquire(t.Context(), "job", lock.NoWait(), lock.TTL(longTTL))
		accountsFor(t, f, err)
	}
	t.Log(errOf(l.Acquire(t.Context(), "job", lock.MaxWait(300*time.Millisecond), lock.TTL(longTTL))))
}

func errOf(_ lock.Lease, err error) error { return err }
