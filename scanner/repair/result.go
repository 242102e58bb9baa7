package repair

import (
	"fmt"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// Outcome is what became of a key.
type Outcome string

// The outcomes of a repair.
const (
	Done    Outcome = "done"
	WouldDo Outcome = "would_do" // dry run: it would have been done
	// Changed is a key that is not as it was found: another value, another
	// kind of TTL, or ending sooner than the repair would let it. It was not touched.
	Changed Outcome = "changed"
	Gone    Outcome = "gone" // there is no such key any more
)

// Result is the result of a repair. It has all that an audit line needs.
type Result struct {
	Node    string
	Key     string // as stored: any bytes; see [report.KeyText]
	Class   report.Class
	Action  Action
	Outcome Outcome
	TTL     time.Duration // found before the repair; negative: none, or no key
}

// Error says that a repair failed. Whether it was done is not known if the
// connection failed; repairing again tells.
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

// maxErrorKey is how much of a key an error shows.
const maxErrorKey = 256

// ClipKey is what errors and logs show of a key.
func ClipKey(key string) string {
	if len(key) <= maxErrorKey {
		return report.KeyText(key)
	}
	return fmt.Sprintf("%s… (%d bytes)", report.KeyText(key[:maxErrorKey]), len(key))
}
