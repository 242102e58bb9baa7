package lock

import (
	"errors"
	"fmt"
	"time"
)

// inQuarantine is the error of a node that may not vote yet, such as *driver.QuarantineError.
type inQuarantine interface {
	error
	// Quarantine returns how long the quarantine lasts, whether the node may be new, and
	// the command that vouches for all nodes of the set.
	Quarantine() (left time.Duration, isNew bool, vouch string)
}

// remedy tells a person what to do about nodes in quarantine, once for all of them; "" if there
// are none. If all may be new, a person can vouch for them. If any node voted, or is known to
// have been used before, the others restarted: then waiting is the remedy.
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
		return fmt.Sprintf("Wait %v. If you know that a node forgot no lock, vouch for that node: "+
			`"lockscope doctor" prints the "lockscope init --restarted" command`, roundUp(left))
	case command == "":
		command = "redlock.Vouch, or lockscope init"
	}
	return fmt.Sprintf("Wait %v. If these nodes are new and never held a lock, "+
		"vouch for them, once: %s", roundUp(left), command)
}

// roundUp rounds up to whole seconds, so that waiting that long is enough.
func roundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
