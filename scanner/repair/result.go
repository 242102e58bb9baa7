package repair

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// Result is the result of a repair, with everything an audit line needs.
type Result struct {
	Node    string
	Key     string // as stored: any bytes; see [inspect.KeyText]
	Class   inspect.Class
	Action  Action
	Outcome inspect.Outcome
	TTL     time.Duration // before the repair; negative: no TTL, or no key
}

// Error reports a failed repair. If the connection failed, the action may have been done: repair again to find out.
type Error struct {
	Node   string
	Key    string
	Action Action
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("scanner: node %s: %v of %s: %v", e.Node, e.Action, ClipKey(e.Key), e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// maxErrorKey bounds the part of a key that an error shows, in bytes.
const maxErrorKey = 256

// ClipKey returns the part of a key that errors and logs show, in printable form.
func ClipKey(key string) string {
	if len(key) <= maxErrorKey {
		return inspect.KeyText(key)
	}
	return fmt.Sprintf("%s… (%d bytes)", inspect.KeyText(key[:maxErrorKey]), len(key))
}
