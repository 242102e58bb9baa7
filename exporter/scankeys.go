package exporter

import "github.com/lockscope/lockscope/scanner"

// ofGroup names findings of a class on the nodes of a group: its nodes hold the same locks,
// those of another group others.
type ofGroup struct {
	group string
	class scanner.Class
}

// findingKeys counts by class. What was found beyond the cap has no key in the report: there
// are at least as many as on the node that has most.
func findingKeys(s *scanner.Snapshot) map[scanner.Class]int {
	most := make(map[ofGroup]int)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for class, count := range n.Counts {
			id := ofGroup{n.Group, class}
			most[id] = max(most[id], count)
		}
	}
	type keyOf struct {
		ofGroup
		key string
	}
	seen := make(map[keyOf]bool)
	named := make(map[ofGroup]int)
	for _, f := range s.Last.Findings {
		id := keyOf{ofGroup{f.Group, f.Class}, f.Key}
		if f.Confirmed && !seen[id] {
			seen[id] = true
			named[id.ofGroup]++
			most[id.ofGroup] = max(most[id.ofGroup], named[id.ofGroup])
		}
	}
	counts := make(map[scanner.Class]int)
	for id, count := range most {
		counts[id.class] += count
	}
	return counts
}
