// Package sessions is the active session history of a Board: once a second it counts every waiting call by its state,
// and keeps the counts for an hour.
//
// A [Wait] is the state of a waiting call: resource and set of nodes, instance and call site of the waiter, instance
// and call site of the holder that it waits for, class, and what that holder waits for itself. Calls in the same state
// are counted together, and a count that stays the same for many samples is one run.
//
// # Memory
//
// A run takes 12 bytes, whatever its length. A state that a run refers to takes about 150 bytes, and a name in a state
// 90 bytes and its text, each once. All of them are bounded, to less than [MaxBytes] together. When a bound is reached,
// the oldest runs are forgotten first, and the history says from when it is complete. Nothing is allocated until
// somebody waits.
//
// An hour with 1,000 waiting calls takes (see TestMemory):
//
//	the same calls all the time, for 8 resources from 20 call sites     30 KB
//	calls of 2 seconds, for 8 resources from 20 call sites              5.7 MB
//	calls of 2 seconds, for 1,000 resources                             12.6 MB, complete for the last 45 minutes
//	calls of 2 seconds, each for a resource that nobody waited for yet  7.2 MB, complete for the last minute
//
// # Cost
//
// An Acquire reads one atomic value. [Sampler] has a timer only while calls are under way, and no goroutine.
package sessions

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// Bounds of a History.
const (
	// Kept is how long samples are kept: a little longer than promised, so that an hour before now is complete.
	Kept = state.WaitHistoryFor + time.Minute
	// MaxBytes bounds the memory of a History.
	MaxBytes = 24 << 20

	maxRuns      = 1 << 20 // 12 MiB
	maxStates    = 1 << 15 // 4.8 MiB
	maxNames     = 1 << 15 // 3 MiB, without their texts
	maxNameBytes = 2 << 20

	// maxGap is how many seconds without a sample a run survives, when the timer fires late on a busy machine.
	maxGap = 10
	// maxDepth bounds the chain of holders that wait themselves.
	maxDepth = 16
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
		h.endOthers() // all: nothing is counted yet
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

// end ends a run, whose last sample was the one before.
func (h *History) end(id uint32, o open) {
	delete(h.open, id)
	h.parts(id, o, func(r run) {
		if h.ended.n >= maxRuns {
			h.forget()
		}
		h.states.retain(id)
		h.ended.push(r)
	})
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

// each passes on the runs, also those that go on.
func (h *History) each(do func(run)) {
	h.ended.each(do)
	for id, o := range h.open {
		h.parts(id, o, do)
	}
}

// parts passes on an open run up to the last sample, as runs that its calls fit in.
func (h *History) parts(id uint32, o open, do func(run)) {
	for rest, n := o.calls, uint32(0); rest > 0; rest -= n {
		n = min(rest, maxCalls)
		do(run{state: id, first: o.first, secs: uint16(h.sampled - o.first + 1), calls: uint16(n)})
	}
}

// run is a number of calls in one state over consecutive samples. It takes 12 bytes.
type run struct {
	state uint32
	first uint32 // second of the first sample
	secs  uint16 // from the first sample to the last, inclusive
	calls uint16
}

// maxCalls fit in a run.
const maxCalls = 1<<16 - 1

// last is the second of the last sample.
func (r run) last() uint32 { return r.first + uint32(r.secs) - 1 }

const blockSize = 1 << 10 // runs

// runs is a queue of ended runs, in the order in which they ended. Blocks of forgotten runs are freed.
type runs struct {
	blocks [][]run
	head   int // forgotten runs of the first block
	n      int
}

func (q *runs) push(r run) {
	last := len(q.blocks) - 1
	if last < 0 || len(q.blocks[last]) == blockSize {
		q.blocks = append(q.blocks, make([]run, 0, blockSize))
		last++
	}
	q.blocks[last] = append(q.blocks[last], r)
	q.n++
}

// oldest requires that there is one.
func (q *runs) oldest() run { return q.blocks[0][q.head] }

// pop forgets the oldest.
func (q *runs) pop() run {
	r := q.oldest()
	q.n--
	if q.head++; q.head == len(q.blocks[0]) {
		q.blocks[0] = nil
		q.blocks, q.head = q.blocks[1:], 0
	}
	return r
}

func (q *runs) each(do func(run)) {
	skip := q.head
	for _, block := range q.blocks {
		for _, r := range block[skip:] {
			do(r)
		}
		skip = 0
	}
}

// Sampler calls a function every second while there is something to sample. It needs no closing: its timer ends by
// itself a second after the last call under way, and no goroutine waits for it. It is safe for concurrent use.
type Sampler struct {
	armed  atomic.Bool
	until  func(now time.Time) time.Duration
	sample func(now time.Time)
	busy   func() bool
}

// NewSampler makes a Sampler. until is the time until the next sample, and busy reports whether there is anything to
// sample.
func NewSampler(until func(now time.Time) time.Duration, sample func(now time.Time), busy func() bool) *Sampler {
	return &Sampler{until: until, sample: sample, busy: busy}
}

// Touch starts the timer if it does not run. It is to be called once a call is under way, as busy reports it.
func (s *Sampler) Touch() {
	if !s.armed.Load() && s.armed.CompareAndSwap(false, true) {
		s.arm()
	}
}

func (s *Sampler) arm() { time.AfterFunc(s.until(time.Now()), s.tick) }

// tick samples once, and once more after the last call under way has ended.
func (s *Sampler) tick() {
	again := s.busy()
	s.sample(time.Now())
	if again {
		s.arm()
		return
	}
	// A call that began meanwhile has either seen the timer as it ran, or it is under way now.
	s.armed.Store(false)
	if s.busy() {
		s.Touch()
	}
}
