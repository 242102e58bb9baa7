package scanner

import (
	"fmt"

	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

// movingText is why ASKING does not prove that all of a moving slot was read.
const movingText = "are on the move, and keys may have gone to a node that was read before: sweep again when they have arrived"

// coverage is which slots of a cluster the nodes of one source were proved to serve
// during the sweep.
type coverage struct {
	read     server.SlotSet
	moving   server.SlotSet
	assigned server.SlotSet
	whole    bool // every node of it was read to its end
}

// add takes what was read of one node.
func (c *coverage) add(n *nodeSweep) {
	c.read = c.read.Union(n.covered.read)
	c.moving = c.moving.Union(n.covered.moving)
	c.assigned = c.assigned.Union(n.covered.assigned)
	c.whole = c.whole && n.covered.whole
}

// gaps says what is missing of a whole cluster. Slots of a node that was not read to its
// end are told of by that node.
func (c *coverage) gaps(src *node.Source) []Gap {
	var gaps []Gap
	rest := server.AllSlots().Without(c.read).Without(c.moving)
	add := func(reason Reason, slots server.SlotSet, text string) {
		if slots.Len() > 0 {
			gaps = append(gaps, Gap{Reason: reason, Detail: fmt.Sprintf("%s: slots %s "+text, src.Name, slots.String())})
		}
	}
	if c.assigned.Len() > 0 {
		add(ReasonSlotsUncovered, rest.Without(c.assigned), "are served by no node: mend the cluster")
	}
	if c.whole {
		add(ReasonSlotsMoving, rest.Both(c.assigned), "changed hands during the sweep: sweep again")
	}
	add(ReasonSlotsMoving, c.moving, movingText)
	return gaps
}

// missing says what one node of a cluster does not cover, if it was named without the
// others.
func (c *coverage) missing() []Gap {
	all := server.AllSlots()
	others := all.Without(c.read).Without(c.moving)
	var gaps []Gap
	if others.Len() > 0 {
		gaps = append(gaps, Gap{Reason: ReasonSlotsUncovered, Detail: fmt.Sprintf(
			"it is one node of a Redis Cluster, and slots %s are not its: name the cluster as a cluster (--cluster)", others.String())})
	}
	if c.moving.Len() > 0 {
		gaps = append(gaps, Gap{Reason: ReasonSlotsMoving, Detail: fmt.Sprintf("slots %s "+movingText, c.moving.String())})
	}
	return gaps
}

// unmatched says which patterns no key matched. A node that was not counted may have some.
func (c *config) unmatched(nodes []NodeReport) []Gap {
	if c.emptyAllowed {
		return nil
	}
	matched := make(map[string]int64)
	for _, n := range nodes {
		if n.Err != nil || n.Truncated || n.Matched == nil {
			return nil
		}
		for pattern, locks := range n.Matched {
			matched[pattern] += locks
		}
	}
	var gaps []Gap
	for _, pattern := range c.scope.Patterns {
		if matched[pattern] == 0 {
			gaps = append(gaps, Gap{Reason: ReasonNoMatch, Detail: fmt.Sprintf(
				"no key matches %q: is that what the locks are called, and is this the server and database they are in?", pattern)})
		}
	}
	return gaps
}

// gap adds a reason why the node is not proved to be read.
func gap(r *NodeReport, reason Reason, format string, args ...any) {
	r.Gaps = append(r.Gaps, Gap{Node: r.Node, Reason: reason, Detail: fmt.Sprintf(format, args...)})
}

// close adds what the numbers of the finished report tell.
func (c *config) close(r *NodeReport) {
	switch {
	case r.Err != nil:
		gap(r, ReasonNodeFailed, "%v", r.Err)
	case r.Truncated:
		gap(r, ReasonBoundReached, "the sweep ended before it had seen every key: give it more time (--deadline)")
	}
	if r.Redirected > 0 {
		gap(r, ReasonRedirected, "%d keys were seen and not read: it said that their slots are another node's, or nobody's", r.Redirected)
	}
	if r.Overflow > 0 {
		gap(r, ReasonBoundReached, "%d findings are counted and not kept: raise the bound (--max-findings)", r.Overflow)
	}
	if r.Unread > 0 && c.rules.ReadValues() {
		gap(r, ReasonValuesUnread, "the values of %d locks were not read: their turn comes with later sweeps, or raise the bound (--max-values)", r.Unread)
	}
	if r.Unwatched > 0 {
		gap(r, ReasonUnwatched, "of %d locks nobody watches since when they are held: raise the bound (--max-watched)", r.Unwatched)
	}
}
