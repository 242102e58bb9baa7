// Package proof is what a sweep proved about the keys it read, as far as repairs need it: that nothing relevant to a
// finding was left out (proof.go), and whether a value belongs to one key only (values.go).
package proof

import (
	"fmt"

	"github.com/lockscope/lockscope/lock/redlock/hashslot"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/server"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// Proof is what one sweep proved, as far as repairs need it. It does not change after the sweep.
type Proof struct {
	Nodes   map[string]Node
	Values  *Values
	Orphans bool // the nodes are those of one Redlock
}

// Node is what a sweep proved about one node.
type Node struct {
	Gaps  []report.Gap
	Slots *server.SlotSet // that were read, of a cluster's node; nil of one that has all keys
}

// Covers returns an error unless the sweep's evidence for f is complete. A gap of a node concerns all of its keys,
// except that unwatched holders matter to [report.HeldTooLong] alone.
func (p *Proof) Covers(f *ledger.Entry) error {
	if p == nil {
		return fmt.Errorf("%w: no sweep has run yet", repair.ErrIncomplete)
	}
	n, swept := p.Nodes[f.Node]
	if !swept {
		return fmt.Errorf("%w: the last sweep did not read the node: sweep again", repair.ErrIncomplete)
	}
	for _, g := range n.Gaps {
		if g.Reason != report.ReasonUnwatched || f.Class == report.HeldTooLong {
			return fmt.Errorf("%w: %s: %s", repair.ErrIncomplete, g.Reason, g.Detail)
		}
	}
	if slot := hashslot.Of(f.Key); n.Slots != nil && !n.Slots.Has(slot) {
		return fmt.Errorf("%w: slot %d was moving or not read: sweep again when the move is done", repair.ErrIncomplete,
			slot)
	}
	if f.Class == report.Orphan && !p.Orphans {
		return fmt.Errorf("%w: the nodes are not proved to form one Redlock: see WithOneRedlock (--redlock)",
			repair.ErrIncomplete)
	}
	return p.Values.unique(f)
}
