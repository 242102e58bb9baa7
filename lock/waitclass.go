package lock

import "errors"

// WaitClass is why a caller waits, as one word of a closed set. Logs, samples and tables use the
// same words.
type WaitClass string

// The classes of wait.
const (
	WaitBehindHolder WaitClass = "holder"      // queued behind a holder, in another process or in this one
	WaitNetwork      WaitClass = "network"     // the nodes were asked and have not decided yet
	WaitNoQuorum     WaitClass = "no_quorum"   // too few nodes answer or may vote
	WaitQuarantined  WaitClass = "quarantined" // without the quarantines there would be a quorum
	WaitBackingOff   WaitClass = "backing_off" // the nodes answer, but the votes are split between callers
)

// Class returns why the caller waits, judged by its last attempt, or by the last one of the caller in front.
func (e WaitStart) Class() WaitClass {
	if e.Front != nil {
		_, e.Last = e.Front()
	}
	quorum, ok := errors.AsType[*QuorumError](e.Last)
	switch {
	case ok:
		return quorum.waitClass()
	case e.Blocker != nil, e.Kind != WaitBackoff:
		return WaitBehindHolder
	}
	return WaitBackingOff
}

// classified is the part of a node's error that says whether the node is in quarantine. The
// errors of package driver have it.
type classified interface {
	error
	Quarantined() bool
}

// waitClass is WaitBackingOff if so few nodes failed that another attempt can win.
func (e *QuorumError) waitClass() WaitClass {
	quarantined, spare := 0, e.Nodes-e.Quorum
	for _, err := range e.Errors {
		if c, ok := errors.AsType[classified](err); ok && c.Quarantined() {
			quarantined++
		}
	}
	switch failed := len(e.Errors); {
	case failed <= spare:
		return WaitBackingOff
	case failed-quarantined <= spare:
		return WaitQuarantined
	}
	return WaitNoQuorum
}
