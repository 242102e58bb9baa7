package outcome

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
)

// TestOfKind: the label kind has a closed set of values.
func TestOfKind(t *testing.T) {
	for kind, want := range map[lock.Kind]string{
		lock.KindElection: "election", lock.KindSemaphore: "semaphore", lock.KindSet: "set", lock.KindRead: "read",
		lock.KindWrite: "write", "barrier": "other", "other": "other",
	} {
		if got := OfKind(kind).String(); got != want {
			t.Errorf("%q has the label %q, want %q", kind, got, want)
		}
	}
}

func TestOfWait(t *testing.T) {
	leader := &lock.HeldError{Holder: lock.Holder{Instance: "a", Kind: lock.KindElection}}
	for _, c := range []struct {
		class   lock.WaitClass
		blocker *lock.HeldError
		before  Leader
		want    Leader
	}{
		{lock.WaitBehindHolder, leader, LeaderUnknown, LeaderSeen},
		{lock.WaitBehindHolder, &lock.HeldError{Holder: lock.Holder{Instance: "a"}}, LeaderSeen, LeaderNone},
		{lock.WaitBehindHolder, &lock.HeldError{}, LeaderSeen, LeaderUnknown},
		{lock.WaitBehindHolder, nil, LeaderSeen, LeaderUnknown},
		{lock.WaitNetwork, nil, LeaderSeen, LeaderSeen},
		{lock.WaitNetwork, nil, LeaderUnknown, LeaderUnknown},
		{lock.WaitNoQuorum, nil, LeaderSeen, LeaderNone},
		{lock.WaitQuarantined, nil, LeaderSeen, LeaderNone},
		{lock.WaitBackingOff, nil, LeaderSeen, LeaderNone},
	} {
		if got := OfWait(c.class, c.blocker, c.before); got != c.want {
			t.Errorf("%s behind %v, after %v: %v, want %v", c.class, c.blocker, c.before, got, c.want)
		}
	}
}
