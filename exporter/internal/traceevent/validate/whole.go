package validate

import (
	"cmp"
	"slices"
)

// thread identifies a thread. A process has tid 0.
type thread struct{ pid, tid int }

// whole checks what events say together.
func (c *checker) whole(events []Event) {
	c.names(events)
	c.nesting(slicesOf(events))
	c.flows(events)
}

// names checks that each process and thread is described once, and that no tid is of two processes.
func (c *checker) names(events []Event) {
	described := make(map[thread]map[string]bool)
	pids := make(map[int]int)
	for i := range events {
		e := &events[i]
		of := thread{e.Pid, e.Tid}
		if e.Tid != 0 {
			if known, ok := pids[e.Tid]; ok && known != e.Pid {
				c.fail("thread %d is of processes %d and %d", e.Tid, known, e.Pid)
			}
			pids[e.Tid] = e.Pid
		}
		if e.Phase != "M" {
			continue
		}
		if described[of] == nil {
			described[of] = make(map[string]bool)
		}
		if described[of][e.Name] {
			c.fail("%s of process %d, thread %d is set twice", e.Name, e.Pid, e.Tid)
		}
		described[of][e.Name] = true
	}
	for i := range events {
		e := &events[i]
		if e.Phase == "M" {
			continue
		}
		if !described[thread{e.Pid, 0}]["process_name"] || !described[thread{e.Pid, e.Tid}]["thread_name"] {
			c.fail("event %d (%q): process %d or its thread %d has no name", i, e.Name, e.Pid, e.Tid)
			return
		}
	}
}

// slicesOf returns the slices of each thread, by start and the longer first.
func slicesOf(events []Event) map[thread][]*Event {
	all := make(map[thread][]*Event)
	for i := range events {
		if e := &events[i]; e.Phase == "X" {
			all[thread{e.Pid, e.Tid}] = append(all[thread{e.Pid, e.Tid}], e)
		}
	}
	for _, list := range all {
		slices.SortStableFunc(list, func(x, y *Event) int {
			return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(y.End(), x.End()))
		})
	}
	return all
}

// nesting checks that of two slices of a thread one contains the other, or they do not overlap.
func (c *checker) nesting(all map[thread][]*Event) {
	for of, list := range all {
		var open []*Event
		for _, e := range list {
			for len(open) > 0 && open[len(open)-1].End() <= e.At {
				open = open[:len(open)-1]
			}
			if len(open) > 0 && open[len(open)-1].End() < e.End() {
				c.fail("thread %d: %q at %d ns ends %d ns after %q around it", of.tid, e.Name, e.At,
					e.End()-open[len(open)-1].End(), open[len(open)-1].Name)
			}
			open = append(open, e)
		}
	}
}

// flows checks that each arrow has one start and one end, in the order of time, each inside a slice.
func (c *checker) flows(events []Event) {
	type key struct{ cat, name, id string }
	arrows, threads := make(map[key][]*Event), slicesOf(events)
	for i := range events {
		if e := &events[i]; e.Phase == "s" || e.Phase == "t" || e.Phase == "f" {
			k := key{e.Cat, e.Name, e.ID}
			arrows[k] = append(arrows[k], e)
		}
	}
	for k, points := range arrows {
		last := len(points) - 1
		for i, e := range points {
			if (e.Phase == "s") != (i == 0) || (e.Phase == "f") != (i == last) || last == 0 {
				c.fail("arrow %v: %q is its point %d of %d", k, e.Phase, i+1, last+1)
			}
			if i > 0 && e.At < points[i-1].At {
				c.fail("arrow %v goes back in time", k)
			}
			if !slices.ContainsFunc(threads[thread{e.Pid, e.Tid}], e.inside) {
				c.fail("arrow %v: no slice is around its %q at %d ns", k, e.Phase, e.At)
			}
		}
	}
}

// inside reports whether the slice is around an event. A slice does not contain its end, unless it has no length.
func (e *Event) inside(slice *Event) bool {
	return slice.At <= e.At && (e.At < slice.End() || slice.Took == 0 && e.At == slice.At)
}
