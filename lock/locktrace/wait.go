package locktrace

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Wait is what a caller waits for, as one word of a closed set. Logs, samples and tables use the same words.
type Wait string

// The kinds of wait.
const (
	WaitLocal       Wait = "local"       // behind other callers of this process; its Class is that of the caller in front
	WaitHolder      Wait = "holder"      // for the holder, in another process or in this one, to release or expire
	WaitNetwork     Wait = "network"     // the nodes were asked and have not decided yet
	WaitNoQuorum    Wait = "no_quorum"   // too few nodes answer or may vote
	WaitQuarantined Wait = "quarantined" // without the quarantines there would be a quorum
	WaitBackingOff  Wait = "backing_off" // the nodes answer, but the votes are split between callers
)

// WaitStart begins a wait between attempts.
type WaitStart struct {
	Resource string
	Kind     Wait            // WaitLocal, WaitHolder, or WaitBackingOff until the nodes answer again; see Class
	Ahead    int             // waiters in front, if known
	First    bool            // nobody is in front of this process, as the nodes last said; false if unknown
	Blocker  *lock.HeldError // the holder, if known; for WaitLocal, what Front returned
	Last     error           // error of the previous attempt; nil for WaitLocal
	// Front returns the current holder, if known, and why the last attempt of the caller in front failed. It is set for
	// WaitLocal only. It may be called at any time and concurrently.
	Front func() (holder *lock.HeldError, last error)
}

// WaitEnd ends a wait.
type WaitEnd struct {
	WaitStart
	Took       time.Duration
	Named      bool // a release named this waiter as the next
	HandedOver bool // a release in this process handed the lock over; only with WaitLocal
	Err        error
}

// Class returns why the caller waits, in one of the words but WaitLocal, judged by its last attempt, or by the last one of the caller in front.
func (e WaitStart) Class() Wait {
	if e.Front != nil {
		_, e.Last = e.Front()
	}
	quorum, ok := errors.AsType[*lock.QuorumError](e.Last)
	switch {
	case ok:
		return classOf(quorum)
	case e.Blocker != nil, e.Kind != WaitBackingOff:
		return WaitHolder
	}
	return WaitBackingOff
}

// classified is the part of a node's error that says whether the node is in quarantine. The
// errors of package driver have it.
type classified interface {
	error
	Quarantined() bool
}

// classOf is WaitBackingOff if so few nodes failed that another attempt can win.
func classOf(e *lock.QuorumError) Wait {
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
