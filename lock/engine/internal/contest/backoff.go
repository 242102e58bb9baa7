package contest

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
	"github.com/lockscope/lockscope/lock/locktrace"
)

const (
	// maxPoll bounds the poll interval of a waiter far back in the queue.
	maxPoll = 5 * time.Second
	// Pauses after votes that too few nodes answered grow from firstBackoff to maxBackoff.
	firstBackoff = 5 * time.Millisecond
	maxBackoff   = time.Second
	// retryNamed is the pause of a waiter that was named and refused: some nodes had not got
	// the release yet.
	retryNamed = 2 * time.Millisecond
)

// pause is how long to wait at most, and for what.
type pause struct {
	kind  locktrace.Wait
	d     time.Duration
	poll  bool // the end of the wait is no more than the time to look again
	often bool // it is short, for nobody will tell
	retry bool // it is short, for the next attempt is likely to succeed
}

// backoff decides how long a caller waits between its attempts.
type backoff struct {
	faults      int // attempts in a row without a quorum of answers
	gateFaults  int // gates in a row that did not answer
	namedInVain int // named attempts in a row that failed
	polls       int // poll intervals in a row in which nothing was heard
	wasted      int // grants of the gate in a row that were wasted
	foreign     foreignHolder
}

// standing is how things stand for a caller whose attempt has failed.
type standing struct {
	tries   int   // attempts, with the one that failed
	nodes   int   // that the lock is on
	named   bool  // the attempt followed a call by name
	next    bool  // nobody is in front of the caller in the gate's queue
	ahead   int   // how many are, as the gate last said
	probing int32 // callers of this process that look often
}

// pause is how long to wait after an attempt that ended with res.
func (b *backoff) pause(cfg *nodes.Config, res ballot.Result, s standing) pause {
	if res.GateFault && b.gateFaults < s.nodes-1 {
		b.gateFaults++
		return pause{kind: locktrace.WaitBackingOff} // another node will serve as gate
	}
	b.gateFaults = 0
	if !errors.Is(res.Err, lock.ErrHeld) && !res.Split {
		b.faults++
		ceiling := min(firstBackoff<<min(b.faults, 10), maxBackoff, cfg.PollInterval)
		return pause{kind: locktrace.WaitBackingOff, d: 1 + cfg.Jitter(ceiling), poll: true}
	}
	b.faults = 0
	// A name may come too early, or from the one node that is wrong. The call may then be in no queue, since a name takes it
	// out, and what is kept for it ends without naming anybody. So it asks again by itself, soon and a few times, while the
	// lock is still kept for it (counterexample 57 of lock/proof/spec).
	if s.named && b.namedInVain < 3 {
		b.namedInVain++
		return pause{kind: locktrace.WaitHolder, d: retryNamed + cfg.Jitter(retryNamed), retry: true}
	}
	b.namedInVain = 0
	if res.Ticket == 0 && s.tries == 1 {
		return pause{kind: locktrace.WaitHolder} // subscribe and queue, then look once more
	}
	p := pause{kind: locktrace.WaitHolder, d: pollInterval(cfg, s.ahead), poll: true}
	if res.Foreign && s.next {
		p.often = true
		p.d, p.poll = b.foreign.pause(cfg, res.FreeIn, s.probing)
	}
	if res.FreeIn > 0 && res.FreeIn < p.d {
		spread := time.Duration(min(s.ahead, 50)) * time.Millisecond
		return pause{kind: locktrace.WaitHolder, d: res.FreeIn + time.Millisecond + cfg.Jitter(2*time.Millisecond+spread)}
	}
	return p
}

// wastedGrant is the pause of a waiter to which the gate had granted the lock, and the other nodes
// had not. The holder's release may have reached the gate before, or while the grant stood there: then
// it has named nobody, and no other release will come. So the waiter looks again, each time later.
func (b *backoff) wastedGrant(cfg *nodes.Config) time.Duration {
	d := min(retryNamed<<min(b.wasted, 10), cfg.PollInterval)
	b.wasted++
	return d/2 + cfg.Jitter(d)
}

// pollInterval is jittered, and longer for a waiter with many others in front.
func pollInterval(cfg *nodes.Config, ahead int) time.Duration {
	d := cfg.PollInterval
	if slower := d * time.Duration(1+min(ahead, 1000)/8); slower > d {
		d = max(d, min(slower, maxPoll))
	}
	return d/2 + cfg.Jitter(d/2)
}
