package coverage

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
)

// Proof is the part of a finished sweep that repairs and the next sweep use. It does not change.
type Proof struct {
	Nodes   map[string]Proved
	Values  *Values
	Orphans bool // the nodes are those of one Redlock
	Quorum  int  // as in [report.NodeReport]
}

// Proved is what a sweep proved about one node.
type Proved struct {
	Gaps  []inspect.Gap
	Slots *node.SlotSet // that were read, of a cluster's node; nil of one that has all keys
}

// Covers returns an error unless the sweep's evidence for f is complete. A gap of a node concerns all of its keys,
// except that unwatched holders matter to [inspect.HeldTooLong] alone.
func (p *Proof) Covers(f *registry.Entry) error {
	if p == nil {
		return fmt.Errorf("%w: no sweep has run yet", repair.ErrIncomplete)
	}
	n, swept := p.Nodes[f.Node]
	if !swept {
		return fmt.Errorf("%w: the last sweep did not read the node: sweep again", repair.ErrIncomplete)
	}
	for _, g := range n.Gaps {
		if g.Reason != inspect.ReasonUnwatched || f.Class == inspect.HeldTooLong {
			return fmt.Errorf("%w: %s: %s", repair.ErrIncomplete, g.Reason, g.Detail)
		}
	}
	if slot := hashslot.Of(f.Key); n.Slots != nil && !n.Slots.Has(slot) {
		return fmt.Errorf("%w: slot %d was moving or not read: sweep again when the move is done", repair.ErrIncomplete,
			slot)
	}
	if f.Class == inspect.Orphan && !p.Orphans {
		return fmt.Errorf("%w: the nodes are not proved to form one Redlock: see WithOneRedlock (--redlock)",
			repair.ErrIncomplete)
	}
	return p.Values.unique(f)
}
