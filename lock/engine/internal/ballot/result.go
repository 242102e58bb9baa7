package ballot

import (
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Result is how an attempt ended.
type Result struct {
	Err         error
	Blocker     *lock.HeldError
	FreeIn      time.Duration // until a quorum of TTLs has run out; < 0 if unknown
	Ticket      int64         // position in the gate's queue; 0 if not queued
	Ahead       int
	Open        int  // as driver.AcquireReply.Free, by the gate
	GateFault   bool // the gate node did not answer
	Hopeless    bool // trying again cannot help
	Split       bool // enough nodes answered, but others have some of them
	Foreign     bool // the holder is another library's: it will tell nobody that it let go
	GateRefused bool // the gate has said that the lock is taken, or kept for another
}
