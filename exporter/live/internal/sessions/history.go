package sessions

import (
	"iter"
	"sync"
	"time"
)

// History has the samples of the last hour. It is safe for concurrent use.
type History struct {
	start time.Time // the seconds of samples count from here, by the monotonic clock

	mu      sync.Mutex
	states  states
	ended   runs
	open    map[uint32]open // by state
	counts  map[uint32]uint32
	sampled uint32 // second of the last sample
	lost    uint32 // samples before this second are not complete
}

// open is a run that the last sample was part of.
type open struct{ first, calls uint32 }

// New makes an empty History that begins now.
func New(now time.Time) *History {
	h := &History{start: now}
	h.states = newStates(h.forget)
	return h
}

// second of the History at this time.
func (h *History) second(now time.Time) uint32 { return uint32(max(now.Sub(h.start), 0) / time.Second) }

// Until is how long it is from now until the next sample is due.
func (h *History) Until(now time.Time) time.Duration {
	return h.start.Add(time.Duration(h.second(now)+1) * time.Second).Sub(now)
}

// Sample records the calls that wait now. It is called once a second while there are any, and once more after that.
func (h *History) Sample(now time.Time, waits []*Wait) {
	at := h.second(now)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open, h.counts = make(map[uint32]open), make(map[uint32]uint32)
	}
	if at-h.sampled > maxGap {
		h.endAll()
	}
	h.expire(at)
	for _, w := range waits {
		id := h.states.enter(w)
		if h.counts[id]++; h.counts[id] > 1 {
			h.states.drop(id) // one reference is enough
		}
	}
	h.endOthers()
	for id, calls := range h.counts {
		if _, goesOn := h.open[id]; goesOn {
			h.states.drop(id) // the run has a reference
		} else {
			h.open[id] = open{at, calls}
		}
	}
	clear(h.counts)
	h.sampled = at
}

// endOthers ends the runs whose count is another one now.
func (h *History) endOthers() {
	for id, o := range h.open {
		if h.counts[id] != o.calls {
			h.end(id, o)
		}
	}
}

func (h *History) endAll() {
	for id, o := range h.open {
		h.end(id, o)
	}
}

// end ends a run, whose last sample was the one before.
func (h *History) end(id uint32, o open) {
	delete(h.open, id)
	for rest := o.calls; rest > 0; rest -= min(rest, maxCalls) {
		if h.ended.n >= maxRuns {
			h.forget()
		}
		h.states.retain(id)
		h.ended.push(run{
			state: id, first: o.first, secs: uint16(h.sampled - o.first + 1), calls: uint16(min(rest, maxCalls)),
		})
	}
	h.states.drop(id)
}

// forget makes room by forgetting the oldest run that has ended. It returns false if there is none.
func (h *History) forget() bool {
	if h.ended.n == 0 {
		return false
	}
	r := h.ended.pop()
	h.lost = max(h.lost, r.last()+1)
	h.states.drop(r.state)
	return true
}

// expire forgets what is too old.
func (h *History) expire(at uint32) {
	oldest := at - min(at, uint32(Kept/time.Second))
	for h.ended.n > 0 && h.ended.oldest().last() < oldest {
		h.states.drop(h.ended.pop().state)
	}
	h.lost = max(h.lost, oldest)
	for id, o := range h.open {
		if o.first < oldest {
			h.open[id] = open{oldest, o.calls}
		}
	}
}

// all yields the runs, also those that go on.
func (h *History) all() iter.Seq[run] {
	return func(yield func(run) bool) {
		for r := range h.ended.all() {
			if !yield(r) {
				return
			}
		}
		for id, o := range h.open {
			secs := uint16(h.sampled - o.first + 1)
			for rest := o.calls; rest > 0; rest -= min(rest, maxCalls) {
				if !yield(run{state: id, first: o.first, secs: secs, calls: uint16(min(rest, maxCalls))}) {
					return
				}
			}
		}
	}
}
