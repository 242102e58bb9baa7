package engine

import (
	"time"

	"github.com/lockscope/lockscope/lock"
)

// result is how an attempt ended.
type result struct {
	err         error
	blocker     *lock.HeldError
	freeIn      time.Duration // until a quorum of TTLs has run out; < 0 if unknown
	ticket      int64         // position in the gate's queue; 0 if not queued
	ahead       int
	gateFault   bool // the gate node did not answer
	hopeless    bool // trying again cannot help
	split       bool // enough nodes answered, but others have some of them
	foreign     bool // the holder is another library's: it will tell nobody that it let go
	gateRefused bool // the gate has said that the lock is taken, or kept for another
}
