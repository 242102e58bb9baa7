package contest

import (
	"time"

	"github.com/lockscope/lockscope/lock/engine/internal/clock"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

const (
	// If more waiters of a process than this look often, each looks less often: a process that
	// waits for many resources must not keep its nodes busy.
	probesAtFullPace = 32
	// sameLease is how far the end of one lease may seem to move: answers are late.
	sameLease = 10 * time.Millisecond
)

// foreignHolder is what a waiter knows of a holder that uses another library. The holder's
// value does not describe it, and its releases name no waiter. The waiter has to look often
// enough to see the moment between two leases of such holders: a process that locks once a second for 950 ms leaves 50 ms.
// A poll every half second meets one such moment in ten.
type foreignHolder struct {
	since      time.Time     // when this lease was first seen; zero if none was
	ends       time.Time     // when it ends if it is not renewed
	sinceProbe time.Duration // pauses since all nodes were asked
}

// meet notes that the lock is held for as long as left, and returns for how long the waiter
// has seen the same lease: one with the same end. The value, which would tell, stays on the node.
func (f *foreignHolder) meet(now time.Time, left time.Duration) time.Duration {
	var ends time.Time // for one that never does
	if left >= 0 && left < clock.Never {
		ends = now.Add(left)
	}
	if f.since.IsZero() || ends.Sub(f.ends).Abs() > sameLease {
		f.since, f.ends = now, ends
	} else if ends.Before(f.ends) {
		f.ends = ends
	}
	return now.Sub(f.since)
}

// pause is how long to wait for such a holder: by default 20 to 100 ms, and 50 to 250 ms once
// its lease has lasted for four seconds, as these libraries wait for each other. poll is true
// once in a poll interval: all nodes are asked then.
func (f *foreignHolder) pause(cfg *nodes.Config, left time.Duration, others int32) (d time.Duration, poll bool) {
	interval := cfg.PollInterval
	age := f.meet(time.Now(), left)
	often, probing := interval/5, time.Duration(others)
	most := max(often, min(age/16, interval/2), min(often*probing/probesAtFullPace, interval))
	d = most/5 + cfg.Jitter(most-most/5)
	if f.sinceProbe += d; f.sinceProbe >= interval {
		f.sinceProbe, poll = 0, true
	}
	return d, poll
}
