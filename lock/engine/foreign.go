package engine

import "time"

const (
	// More waiters of a process than this look less often each: a process that waits for
	// many resources must not be what keeps its nodes busy.
	looksAtFullPace = 32
	// sameHold is by how much the end of one hold may seem to move: answers are late.
	sameHold = 10 * time.Millisecond
)

// foreignHolder is what a waiter knows of a holder that is another library's: its value
// says nothing of it, it names no waiter and tells nobody that it let go. Whoever wants
// the lock besides has to look often enough to meet the moment between two holds.
type foreignHolder struct {
	since  time.Time     // when this hold was first met; zero if none is
	ends   time.Time     // when it ends if it is not renewed
	looked time.Duration // pauses since all nodes were asked
}

// meet notes that the lock is held, and returns for how long the waiter has met that hold:
// one that ends when the last one did. The value, which would say it, stays on the node.
func (f *foreignHolder) meet(now time.Time, left time.Duration) time.Duration {
	var ends time.Time // for one that never does
	if left >= 0 && left < never {
		ends = now.Add(left)
	}
	if f.since.IsZero() || ends.Sub(f.ends).Abs() > sameHold {
		f.since, f.ends = now, ends
	} else if ends.Before(f.ends) {
		f.ends = ends
	}
	return now.Sub(f.since)
}

// pause is how long to wait for a holder that tells nobody: by default 20 to 100
// ms, and 50 to 250 ms once one hold has lasted for four seconds, as such libraries do
// among themselves. All nodes are asked once in a poll interval, as ever.
func (f *foreignHolder) pause(cfg *Settings, left time.Duration, others int32) (d time.Duration, poll bool) {
	interval := cfg.PollInterval
	age := f.meet(time.Now(), left)
	often, looking := interval/5, time.Duration(others)
	most := max(often, min(age/16, interval/2), min(often*looking/looksAtFullPace, interval))
	d = most/5 + cfg.jitter(most-most/5)
	if f.looked += d; f.looked >= interval {
		f.looked, poll = 0, true
	}
	return d, poll
}
