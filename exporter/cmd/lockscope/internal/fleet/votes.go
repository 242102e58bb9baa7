package fleet

import "github.com/lockscope/lockscope/lock/locktrace"

// Votes counts the nodes of a set that vote. The zero value says nothing of them.
type Votes struct{ Quorum, Voting, Quarantined int }

// Decide reports whether enough nodes vote for locks to be acquired.
func (v Votes) Decide() bool { return v.Quorum > 0 && v.Voting >= v.Quorum }

// Class is why the callers of a lock wait. It is empty if the nodes do not tell: the lock may be free by now, or its
// votes split.
func (v Votes) Class(held bool) locktrace.Wait {
	switch {
	case v.Voting+v.Quarantined < v.Quorum:
		return locktrace.WaitNoQuorum
	case v.Voting < v.Quorum:
		return locktrace.WaitQuarantined
	case held:
		return locktrace.WaitHolder
	}
	return ""
}
