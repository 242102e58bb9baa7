package lock

import (
	"errors"
	"fmt"
	"time"
)

// inQuarantine is an error of a node that does not vote yet: *driver.QuarantineError is one.
type inQuarantine interface {
	error
	// Quarantine says for how long, whether the node may be a new one, and the command with
	// which a person vouches for all nodes of the set, if they are.
	Quarantine() (left time.Duration, isNew bool, vouch string)
}

// remedy is what a person can do about nodes in quarantine, said once for all of them; ""
// where there are none. New nodes can be vouched for. Once a node has taken part, or is
// known to have been in use, the others restarted: then time is the remedy.
func (e *QuorumError) remedy() string {
	var left time.Duration
	var command string
	silent, allNew := 0, e.Granted+e.Refused == 0
	for _, err := range e.Errors {
		q, ok := errors.AsType[inQuarantine](err.Err)
		if !ok {
			continue
		}
		silent++
		wait, isNew, vouch := q.Quarantine()
		left, command, allNew = max(left, wait), vouch, allNew && isNew
	}
	switch {
	case silent == 0:
		return ""
	case !allNew:
		return fmt.Sprintf("Wait %v. If you know that a node forgot no lock, vouch for it alone: "+
			"lockscope doctor tells what lockscope init --restarted needs", roundUp(left))
	case command == "":
		command = "redlock.Vouch, or lockscope init"
	}
	return fmt.Sprintf("Wait %v. If these nodes are new and no lock was ever taken on them, "+
		"vouch for them, once: %s", roundUp(left), command)
}

// roundUp is in whole seconds: who waits must not wait too short.
func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
