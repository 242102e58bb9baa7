//go:build linux

package judge

import "slices"

// longestRun is the most fences that one grant reserves.
const longestRun = 8192

// fences are unique, and increase from one grant to the next; a lease that was handed over
// has the next of its grant's run.
func (c *court) fences() {
	for _, leases := range c.byResource() {
		owner := make(map[uint64]*Lease)
		for _, l := range leases {
			if other := owner[l.Fence]; other != nil {
				c.find(Fences, l.Resource, l.Granted, "fence %d is had twice: by %v at %v, and by %v", l.Fence, other,
					c.at(other.Granted), l)
			}
			if l.Fence == 0 {
				c.find(Fences, l.Resource, l.Granted, "%v has none", l)
			}
			owner[l.Fence] = l
		}
		c.increase(leases)
		c.runs(leases)
	}
}

// increase compares a grant with all those that were complete before it was asked for.
func (c *court) increase(leases []*Lease) {
	asked := slices.Clone(leases)
	slices.SortFunc(asked, func(a, b *Lease) int { return int(a.Call - b.Call) })
	var highest *Lease // of those that were granted before
	next := 0          // of leases, in the order of their grants
	for _, l := range asked {
		for ; next < len(leases) && leases[next].Granted < l.Call; next++ {
			if highest == nil || leases[next].Fence > highest.Fence {
				highest = leases[next]
			}
		}
		if highest != nil && !l.HandedOver && l.Fence <= highest.Fence {
			c.find(Fences, l.Resource, l.Granted,
				"they go back: %v was asked for at %v, when %v had been granted at %v",
				l, c.at(l.Call), highest, c.at(highest.Granted))
		}
	}
}

// runs: a lease that was handed over comes after one of the same process. It need not be
// the very next: a caller that gives up in that instant is handed one that nobody sees.
func (c *court) runs(leases []*Lease) {
	last := make(map[*Worker]*Lease)
	for _, l := range leases {
		before := last[l.Worker]
		if l.HandedOver && (before == nil || l.Fence <= before.Fence || l.Fence-before.Fence >= longestRun) {
			c.find(Fences, l.Resource, l.Granted, "%v was handed over, and its process had %v before", l, before)
		}
		last[l.Worker] = l
	}
}
