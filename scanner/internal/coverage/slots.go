package coverage

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// movingText says why ASKING does not prove that a moving slot was read completely.
const movingText = "are moving, and keys may have moved to a node that was already read: " +
	"sweep again when the move is done"

// Slots is which slots of a cluster the nodes of one source were proved to serve during the sweep.
type Slots struct {
	Read     node.SlotSet
	Moving   node.SlotSet
	Assigned node.SlotSet
	Whole    bool // every node of it was read completely
}

// Add adds what was read of one node.
func (c *Slots) Add(n *Slots) {
	c.Read = c.Read.Union(n.Read)
	c.Moving = c.Moving.Union(n.Moving)
	c.Assigned = c.Assigned.Union(n.Assigned)
	c.Whole = c.Whole && n.Whole
}

// Gaps returns the gaps of a whole cluster. A node that was not read completely reports its slots itself.
func (c *Slots) Gaps(source string) []inspect.Gap {
	var gaps []inspect.Gap
	rest := node.AllSlots().Without(c.Read).Without(c.Moving)
	add := func(reason inspect.Reason, slots node.SlotSet, text string) {
		if slots.Len() > 0 {
			gaps = append(gaps, inspect.Gap{Reason: reason,
				Detail: fmt.Sprintf("%s: slots %s "+text, source, slots.String())})
		}
	}
	if c.Assigned.Len() > 0 {
		add(inspect.ReasonSlotsUncovered, rest.Without(c.Assigned), "are served by no node: repair the cluster")
	}
	if c.Whole {
		add(inspect.ReasonSlotsMoving, rest.Both(c.Assigned), "changed nodes during the sweep: sweep again")
	}
	add(inspect.ReasonSlotsMoving, c.Moving, movingText)
	return gaps
}

// missing returns the gaps of a cluster's node that was given without the others.
func (c *Slots) missing() []inspect.Gap {
	all := node.AllSlots()
	others := all.Without(c.Read).Without(c.Moving)
	var gaps []inspect.Gap
	if others.Len() > 0 {
		gaps = append(gaps, inspect.Gap{Reason: inspect.ReasonSlotsUncovered, Detail: fmt.Sprintf(
			"the node is part of a Redis Cluster and does not serve slots %s: give the cluster as a whole (--cluster)",
			others.String())})
	}
	if c.Moving.Len() > 0 {
		gaps = append(gaps, inspect.Gap{Reason: inspect.ReasonSlotsMoving,
			Detail: fmt.Sprintf("slots %s "+movingText, c.Moving.String())})
	}
	return gaps
}
