//go:build linux

package judge

import "fmt"

// Record is a line of a worker's log, as far as judges read it.
type Record struct {
	Msg      string `json:"msg"`
	Resource string `json:"resource"`
	Fence    uint64 `json:"fence"`
	Reason   string `json:"reason"`
	// Dropped is how many records before this one were left out, because the disk was slower.
	Dropped int `json:"dropped"`
}

// log: every loss is told, and nothing else is told as one.
func (c *court) log(w *Worker) {
	lost := make(map[string]*Lease)
	undecided := make(map[string]bool) // they may have been lost before the worker was killed
	for _, l := range leasesOf(w) {
		key := fmt.Sprint(l.Resource, " ", l.Fence)
		switch {
		case l.Ended == nil:
			undecided[key] = true
		case l.Ended.Outcome == "lost", l.Ended.Outcome == "max_hold":
			lost[key] = l
		}
	}
	dropped := 0
	for _, r := range w.Log {
		dropped += r.Dropped
		if r.Msg != "lease lost" {
			continue
		}
		key := fmt.Sprint(r.Resource, " ", r.Fence)
		if lost[key] == nil && !undecided[key] {
			c.find(Telemetry, r.Resource, w.To,
				"%s logged the loss of fence %d (%s), of which its history knows nothing", w.Name, r.Fence, r.Reason)
		}
		delete(lost, key)
	}
	if w.Killed {
		return // what it would have logged next is not known
	}
	if len(lost) > dropped {
		for _, l := range lost {
			c.find(Telemetry, l.Resource, l.Ended.T, "%v was lost, and the log does not tell (%d records were dropped)",
				l, dropped)
		}
	}
}
