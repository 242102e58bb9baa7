package engine

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
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

// pause is how long to wait at most, and for what.
type pause struct {
	kind  lock.WaitKind
	d     time.Duration
	poll  bool // the end of the wait is no more than the time to look again
	often bool // it is short, for nobody will tell
}

// pause decides.
func (a *acquisition) pause(res result) pause {
	if res.gateFault && a.gateFaults < len(a.engine.nodes)-1 {
		a.gateFaults++
		return pause{kind: lock.WaitBackoff} // another node will serve as gate
	}
	a.gateFaults = 0
	if !errors.Is(res.err, lock.ErrHeld) && !res.split {
		a.faults++
		ceiling := min(firstBackoff<<min(a.faults, 10), maxBackoff, a.engine.cfg.PollInterval)
		return pause{kind: lock.WaitBackoff, d: 1 + a.jitter(ceiling), poll: true}
	}
	a.faults = 0
	if a.named && a.namedInVain < 3 {
		a.namedInVain++
		return pause{kind: lock.WaitHolder, d: retryNamed + a.jitter(retryNamed)}
	}
	a.namedInVain = 0
	if res.ticket == 0 && a.attempts == 1 {
		return pause{kind: lock.WaitHolder} // subscribe and queue, then look once more
	}
	p := pause{kind: lock.WaitHolder, d: a.pollInterval(res.ahead), poll: true}
	if res.foreign && a.ticket > 0 && a.next {
		p = a.foreignPause(res.freeIn)
	}
	if res.freeIn > 0 && res.freeIn < p.d {
		spread := time.Duration(min(res.ahead, 50)) * time.Millisecond
		return pause{kind: lock.WaitHolder, d: res.freeIn + time.Millisecond + a.jitter(2*time.Millisecond+spread)}
	}
	return p
}

// pollInterval is jittered, and longer for those with many in front.
func (a *acquisition) pollInterval(ahead int) time.Duration {
	d := a.engine.cfg.PollInterval
	if slower := d * time.Duration(1+min(ahead, 1000)/8); slower > d {
		d = max(d, min(slower, maxPoll))
	}
	return d/2 + a.jitter(d/2)
}

// jitter is a random duration below d.
func (a *acquisition) jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(a.engine.cfg.Random(int64(d)))
}
