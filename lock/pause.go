package lock

import (
	"errors"
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

// pause decides how long to wait at most, and for what. poll says that the end of
// the wait is no more than the time to look again.
func (c *contest) pause(res result) (kind WaitKind, d time.Duration, poll bool) {
	if res.gateFault && c.detours < len(c.r.members)-1 {
		c.detours++
		return WaitBackoff, 0, false // another node will serve as gate
	}
	c.detours = 0
	if !errors.Is(res.err, ErrHeld) && !res.split {
		c.faults++
		ceiling := min(firstBackoff<<min(c.faults, 10), maxBackoff, c.r.cfg.PollInterval)
		return WaitBackoff, 1 + c.jitter(ceiling), true
	}
	c.faults = 0
	if c.named && c.unlucky < 3 {
		c.unlucky++
		return WaitHolder, retryNamed + c.jitter(retryNamed), false
	}
	c.unlucky = 0
	if res.ticket == 0 && c.attempts == 1 {
		return WaitHolder, 0, false // subscribe and queue, then look once more
	}
	d = c.pollInterval(res.ahead)
	if res.freeIn > 0 && res.freeIn < d {
		spread := time.Duration(min(res.ahead, 50)) * time.Millisecond
		return WaitHolder, res.freeIn + time.Millisecond + c.jitter(2*time.Millisecond+spread), false
	}
	return WaitHolder, d, true
}

// pollInterval is jittered, and longer for those with many in front.
func (c *contest) pollInterval(ahead int) time.Duration {
	d := c.r.cfg.PollInterval
	if slower := d * time.Duration(1+min(ahead, 1000)/8); slower > d {
		d = max(d, min(slower, maxPoll))
	}
	return d/2 + c.jitter(d/2)
}

// jitter is a random duration below d.
func (c *contest) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(c.r.cfg.Random(int64(d)))
}
