package lock

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"time"
)

const (
	// maxPoll bounds how seldom a waiter far back in the queue looks.
	maxPoll = 5 * time.Second
	// Waits after a vote that too few nodes answered grow from the first to the second.
	firstBackoff = 5 * time.Millisecond
	maxBackoff   = time.Second
	// retryNamed is the pause of a waiter that was named, came, and met nodes
	// that had not yet heard of the release.
	retryNamed = 2 * time.Millisecond
)

// pause decides how long to wait at most, and for what.
func (c *contest) pause(res result) (WaitKind, time.Duration) {
	if res.gateFault && c.badGates != 0 && bits.OnesCount64(c.badGates) < len(c.r.members) {
		return WaitBackoff, 0 // another node will serve as gate
	}
	if !errors.Is(res.err, ErrHeld) && !res.split {
		c.faults++
		ceiling := min(firstBackoff<<min(c.faults, 10), maxBackoff, c.r.cfg.pollInterval)
		return WaitBackoff, 1 + rand.N(ceiling)
	}
	c.faults = 0
	if c.named && c.unlucky < 3 {
		c.unlucky++
		return WaitHolder, retryNamed + rand.N(retryNamed)
	}
	c.unlucky = 0
	if res.ticket == 0 && c.attempts == 1 {
		return WaitHolder, 0 // subscribe and queue, then look once more
	}
	d := c.pollInterval(res.ahead)
	if res.freeIn > 0 && res.freeIn < d {
		spread := time.Duration(min(res.ahead, 50)) * time.Millisecond
		d = res.freeIn + time.Millisecond + rand.N(2*time.Millisecond+spread)
	}
	return WaitHolder, d
}

// pollInterval is jittered, and longer for those with many in front.
func (c *contest) pollInterval(ahead int) time.Duration {
	d := c.r.cfg.pollInterval
	if slower := d * time.Duration(1+min(ahead, 1000)/8); slower > d {
		d = max(d, min(slower, maxPoll))
	}
	return d/2 + rand.N(d/2)
}
