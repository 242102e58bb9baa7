package lock

import "errors"

// WaitClass is what keeps a caller waiting, in one word of a closed set: the same in logs, samples and
// tables.
type WaitClass string

// The classes of wait.
const (
	WaitBehindHolder WaitClass = "holder"      // queued behind a holder, another process or this one
	WaitNetwork      WaitClass = "network"     // the nodes were asked, and none of what is known so far says more
	WaitNoQuorum     WaitClass = "no_quorum"   // too few nodes answer, or may vote
	WaitQuarantined  WaitClass = "quarantined" // there would be a quorum, but for nodes in quarantine
	WaitBackingOff   WaitClass = "backing_off" // the nodes answer, and other callers got some of them
)

// Class is what keeps the caller waiting, as far as its last attempt tells.
func (e WaitStart) Class() WaitClass {
	quorum, ok := errors.AsType[*QuorumError](e.Last)
	switch {
	case ok:
		return quorum.waitClass()
	case e.Blocker != nil, e.Kind != WaitBackoff:
		return WaitBehindHolder
	}
	return WaitBackingOff
}

// classified is the part of a node's error that says what kind of failure it is: those of
// package driver are.
type classified interface {
	error
	Quarantined() bool
}

// waitClass of a split vote is to back off: no node failed so that another attempt cannot win.
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
