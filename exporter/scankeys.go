package exporter

import (
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
)

// ofGroup identifies the findings of a class in a group. The nodes of a group hold the same locks.
type ofGroup struct {
	backend, group string
	class          inspect.Class
}

// findingKeys counts keys by class. Findings beyond the limit have no key in the report: there are at least as many
// as on the node that has most.
func findingKeys(s *scanner.Snapshot) map[inspect.Class]int {
	most := make(map[ofGroup]int)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Standby { // as in collectNode
			continue
		}
		for class, count := range n.Counts {
			id := ofGroup{n.Backend, n.Group, class}
			most[id] = max(most[id], count)
		}
	}
	type keyOf struct {
		ofGroup
		place, key string
	}
	seen := make(map[keyOf]bool)
	named := make(map[ofGroup]int)
	for _, f := range s.Last.Findings {
		id := keyOf{ofGroup{f.Backend, f.Group, f.Class}, f.Place, f.Key}
		if f.Confirmed && !seen[id] {
			seen[id] = true
			named[id.ofGroup]++
			most[id.ofGroup] = max(most[id.ofGroup], named[id.ofGroup])
		}
	}
	counts := make(map[inspect.Class]int)
	for id, count := range most {
		counts[id.class] += count
	}
	return counts
}
