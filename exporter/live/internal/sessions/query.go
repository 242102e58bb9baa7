package sessions

import (
	"cmp"
	"math"
	"time"

	"github.com/lockscope/lockscope/exporter/live/state"
)

// unknownClass stands for no class.
const unknownClass = "unknown"

func className(number uint32) string { return cmp.Or(string(classes[number]), unknownClass) }

// span is a part of the History: samples from one second up to another.
type span struct {
	zero     time.Time // of second 0, by the clock of now
	from, to uint32
	origin   int64  // second of the first bucket, which may be before the History began
	bucket   uint32 // seconds
}

func (h *History) spanOf(now, from, to time.Time) span {
	s := span{zero: now.Round(0).Add(-now.Sub(h.start))}
	s.origin = int64(math.Ceil(from.Sub(s.zero).Seconds()))
	s.from, s.to = s.second(from), s.second(to)
	for _, s.bucket = range []uint32{1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600} {
		if to.Sub(from) <= time.Duration(s.bucket)*time.Second*state.MaxBuckets {
			break
		}
	}
	return s
}

// second is the first second at that time or later.
func (s span) second(at time.Time) uint32 {
	return uint32(max(at.Sub(s.zero)+time.Second-1, 0) / time.Second)
}

func (s span) time(second uint32) time.Time {
	return s.zero.Add(time.Duration(second) * time.Second).UTC()
}

// clip is the part of a run within the span. ok is false if there is none.
func (s span) clip(r run) (first, last uint32, ok bool) {
	first, last = max(r.first, s.from), min(r.last()+1, s.to)
	return first, last - 1, first < last
}

// add adds a run to its buckets.
func (s span) add(to []int, first, last uint32, calls int) {
	for at := first; at <= last; {
		i := (int64(at) - s.origin) / int64(s.bucket)
		end := min(uint32(s.origin+(i+1)*int64(s.bucket)), last+1)
		to[min(int(i), len(to)-1)] += int(end-at) * calls
		at = end
	}
}

// maxSpan bounds a span to MaxBuckets buckets of the greatest length.
const maxSpan = state.MaxBuckets * time.Hour

// Between returns what was sampled from one time to another, at most maxSpan before it.
func (h *History) Between(now, from, to time.Time) state.WaitHistory {
	if earliest := to.Add(-maxSpan); from.Before(earliest) {
		from = earliest
	}
	s := h.spanOf(now, from, to)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire(h.second(now))
	bucket := time.Duration(s.bucket) * time.Second
	d := state.WaitHistory{
		At: now.Round(0).UTC(), From: from.UTC(), To: to.UTC(), CompleteFrom: s.time(h.lost),
		Bucket: int(s.bucket), Buckets: max(1, int((to.Sub(from)+bucket-1)/bucket)),
	}
	c := h.count(s, d.Buckets)
	d.Classes = c.classes(&d.Waited)
	newTally(h, s, c).list(&d)
	return d
}

// counted is the waiting of each state in a span.
type counted struct {
	waited      []int // by number of the state
	first, last []uint32
	strip       [len(classes)][]int // by bucket
}

// count requires that mu is held.
func (h *History) count(s span, buckets int) *counted {
	n := len(h.states.all)
	c := &counted{waited: make([]int, n), first: make([]uint32, n), last: make([]uint32, n)}
	for i := range c.strip {
		c.strip[i] = make([]int, buckets)
	}
	h.each(func(r run) {
		first, last, ok := s.clip(r)
		if !ok {
			return
		}
		if c.waited[r.state] == 0 {
			c.first[r.state] = first
		}
		c.waited[r.state] += int(last-first+1) * int(r.calls)
		c.first[r.state], c.last[r.state] = min(c.first[r.state], first), max(c.last[r.state], last)
		s.add(c.strip[h.states.all[r.state].class], first, last, int(r.calls))
	})
	return c
}

// classes lists those that occurred, and adds up all waiting.
func (c *counted) classes(total *int) []state.WaitedClass {
	all := []state.WaitedClass{}
	for i, buckets := range c.strip {
		waited := 0
		for _, n := range buckets {
			waited += n
		}
		if waited > 0 {
			all = append(all, state.WaitedClass{Class: className(uint32(i)), Waited: waited, Buckets: buckets})
		}
		*total += waited
	}
	return all
}

// Chains returns the states of waiting calls from one time to another, with the waits of their holders.
func (h *History) Chains(now, from, to time.Time) (all []state.WaitChain) {
	s := h.spanOf(now, from, to)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.expire(h.second(now))
	for id, waited := range h.count(s, 1).waited {
		if waited == 0 {
			continue
		}
		c := state.WaitChain{Class: className(uint32(h.states.all[id].class)), Waited: waited}
		for next := uint32(id); next != 0; next = h.states.all[next].next {
			c.Links = append(c.Links, h.link(h.states.all[next]))
		}
		all = append(all, c)
	}
	return all
}

func (h *History) link(p packed) state.PastLink {
	name := h.states.names.all
	return state.PastLink{
		Resource: name[p.resource], Backend: name[p.backend], Instance: name[p.instance], CallSite: name[p.callSite],
		Holder: name[p.holder], HolderSite: name[p.holderSite],
	}
}
