package outcome

import (
	"errors"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Kind is the construct that a lease is part of.
type Kind int

// The values of the label kind.
const (
	Election Kind = iota
	Semaphore
	Set
	Read
	Write
	OtherKind // of a later version
	Kinds     // how many there are
)

var kinds = [Kinds]string{
	string(lock.KindElection), string(lock.KindSemaphore), string(lock.KindSet), string(lock.KindRead),
	string(lock.KindWrite), "other",
}

func (k Kind) String() string { return kinds[k] }

// OfKind classifies the kind of a lock that is part of a construct.
func OfKind(k lock.Kind) Kind {
	for i, name := range kinds {
		if name == string(k) {
			return Kind(i)
		}
	}
	return OtherKind
}

// End is why a lease of a construct ended.
type End int

// The values of the label end.
const (
	EndReleased End = iota // by its holder: a leader resigned
	EndLost
	EndMaxHold
	EndClosed   // with its Locker
	EndCanceled // with its caller's context
	Ends        // how many there are
)

var ends = [Ends]string{"released", "lost", "max_hold", "closed", "canceled"}

func (e End) String() string { return ends[e] }

// OfEnd classifies the cause of the end of a lease's context. It is nil if the Locker does not end the contexts of
// leases that were released.
func OfEnd(cause error) End {
	switch {
	case cause == nil, errors.Is(cause, lock.ErrReleased):
		return EndReleased
	case errors.Is(cause, lock.ErrLost):
		return EndLost
	case errors.Is(cause, lock.ErrMaxHold):
		return EndMaxHold
	case errors.Is(cause, lock.ErrClosed):
		return EndClosed
	default:
		return EndCanceled
	}
}

// Leader is what a candidate knows of a leader.
type Leader int

// The values of the label leader.
const (
	LeaderUnknown Leader = iota // no answer yet, or a holder without a record
	LeaderSeen                  // it waits behind a leader
	LeaderNone                  // no quorum, or the holder is no leader
	Leaders                     // how many there are
)

var leaders = [Leaders]string{"unknown", "seen", "none"}

func (l Leader) String() string { return leaders[l] }

// OfWait classifies what a wait of a candidate says of a leader. While it asks the nodes, it knows what it knew before.
func OfWait(class locktrace.Wait, blocker *lock.HeldError, before Leader) Leader {
	switch {
	case class == locktrace.WaitNetwork, class == "":
		return before
	case class != locktrace.WaitHolder:
		return LeaderNone
	case blocker == nil || blocker.Holder == lock.Holder{}:
		return LeaderUnknown
	case blocker.Holder.Kind == lock.KindElection:
		return LeaderSeen
	default:
		return LeaderNone
	}
}
