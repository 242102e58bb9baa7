//go:build linux

package judge

import (
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
)

// lateness is by how much the signal may come after the end of validity in a process that
// gets to run: the promise says "as soon as".
const lateness = 200 * time.Millisecond

// losses: whoever has a lease is told of its end no later than its validity ends, as soon
// as the process gets to run. When it did not, the process itself has written down.
func (c *court) losses() {
	for _, l := range c.leases {
		stalls := l.Worker.stalls()
		switch {
		case l.Ended != nil && l.Ended.Outcome == "lost":
			end := l.Ended.T - l.Ended.Late
			if late := l.Ended.Late - stalled(stalls, end, l.Ended.T); late > int64(lateness) {
				c.find(Losses, l.Resource, l.Ended.T,
					"%v was over at %v, which was told %v later, of which its process could run for %v",
					l, c.at(end), time.Duration(l.Ended.Late), time.Duration(late))
			}
		case l.Ended == nil && l.Until > 0:
			// A process that was killed may have been stopped before, and never have said so.
			if silent := l.Worker.lastWord() - l.Until; silent-stalled(stalls, l.Until,
				l.Worker.lastWord()) > int64(lateness) {
				c.find(Losses, l.Resource, l.Until, "%v was over at %v, which was not told until %v", l, c.at(l.Until),
					c.at(l.Worker.lastWord()))
			}
		}
		for _, w := range l.writes {
			if w.Until <= w.T && w.Text != history.Blind {
				c.find(Losses, l.Resource, w.T, "%v wrote without having seen that it was valid", l)
			}
		}
	}
}

// lastWord is when the process is last known to have run.
func (w *Worker) lastWord() (t int64) {
	if len(w.Events) > 0 {
		t = w.Events[len(w.Events)-1].T
	}
	return t
}

// stalls are the intervals in which the process did not run, in order. The file has them so.
func (w *Worker) stalls() []history.Event {
	if w.stallsRead == nil {
		w.stallsRead = make([]history.Event, 0)
		for _, e := range w.Events {
			if e.Kind == history.Stall {
				w.stallsRead = append(w.stallsRead, e)
			}
		}
	}
	return w.stallsRead
}

// stalled is how much of an interval lies in stalls.
func stalled(stalls []history.Event, from, to int64) (sum int64) {
	first, _ := slices.BinarySearchFunc(stalls, from, func(s history.Event, t int64) int { return int(s.T - t) })
	for _, s := range stalls[first:] {
		if s.Since >= to {
			break
		}
		sum += max(0, min(s.T, to)-max(s.Since, from))
	}
	return sum
}

// LateRunning is how late the loss was told, without the time in which the process did not
// run.
func (l *Lease) LateRunning() time.Duration {
	end := l.Ended.T - l.Ended.Late
	return time.Duration(max(0, l.Ended.Late-stalled(l.Worker.stalls(), end, l.Ended.T)))
}
