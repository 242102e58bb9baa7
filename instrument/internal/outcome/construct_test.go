package outcome

import (
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
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
		class   locktrace.Wait
		blocker *lock.HeldError
		before  Leader
		want    Leader
	}{
		{locktrace.WaitHolder, leader, LeaderUnknown, LeaderSeen},
		{locktrace.WaitHolder, &lock.HeldError{Holder: lock.Holder{Instance: "a"}}, LeaderSeen, LeaderNone},
		{locktrace.WaitHolder, &lock.HeldError{}, LeaderSeen, LeaderUnknown},
		{locktrace.WaitHolder, nil, LeaderSeen, LeaderUnknown},
		{locktrace.WaitNetwork, nil, LeaderSeen, LeaderSeen},
		{locktrace.WaitNetwork, nil, LeaderUnknown, LeaderUnknown},
		{locktrace.WaitNoQuorum, nil, LeaderSeen, LeaderNone},
		{locktrace.WaitQuarantined, nil, LeaderSeen, LeaderNone},
		{locktrace.WaitBackingOff, nil, LeaderSeen, LeaderNone},
	} {
		if got := OfWait(c.class, c.blocker, c.before); got != c.want {
			t.Errorf("%s behind %v, after %v: %v, want %v", c.class, c.blocker, c.before, got, c.want)
		}
	}
}
