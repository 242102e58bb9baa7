package waitgraph

// wait is one call, or all calls of a process, that wait for a resource and hold leases meanwhile.
type wait struct {
	holds    map[string]uint64 // fences of the leases, by resource
	resource string            // where it queues
	either   []string          // it goes on once one of these is free
	ends     bool              // it can end although nobody gives up: one of these will be free
}

// markEnding marks the waits that can end. A wait ends once it gets one of its resources. A resource
// becomes free once all waits of its holders end, or at once if they wait for nothing. What is left
// are the waits in deadlocks, and those behind them.
func markEnding(waits []*wait) {
	left := make(map[string]int)       // waits of the holders of each resource that do not end
	behind := make(map[string][]*wait) // those that want a resource
	for _, w := range waits {
		for held := range w.holds {
			left[held]++
		}
		for _, wanted := range w.either {
			behind[wanted] = append(behind[wanted], w)
		}
	}
	var free []string
	for wanted := range behind {
		if left[wanted] == 0 {
			free = append(free, wanted)
		}
	}
	for ; len(free) > 0; free = free[1:] {
		for _, w := range behind[free[0]] {
			if w.ends {
				continue
			}
			w.ends = true
			for held := range w.holds {
				if left[held]--; left[held] == 0 {
					free = append(free, held)
				}
			}
		}
	}
}
