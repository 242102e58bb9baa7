package lock

import (
	"errors"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// remedy is what a person can do about nodes in quarantine, said once for all of them; ""
// where there are none. New nodes can be vouched for. Once a node has taken part, or is
// known to have been in use, the others restarted: then time is the remedy.
func (e *QuorumError) remedy() string {
	var left time.Duration
	var command string
	silent, allNew := 0, e.Granted+e.Refused == 0
	for _, err := range e.Errors {
		q, ok := errors.AsType[*driver.QuarantineError](err.Err)
		if !ok {
			continue
		}
		silent++
		left, command, allNew = max(left, q.Left), q.Vouch, allNew && q.New
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
