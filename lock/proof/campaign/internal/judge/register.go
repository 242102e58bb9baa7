//go:build linux

package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/ledger"
)

// Register is what porcupine says of the updates that workers made under their leases: one
// fenced counter for each resource. An update is a read and a write, with nothing but the
// lock between; it must be as if it had taken effect in one instant.
type Register struct {
	Result     porcupine.CheckResult
	Operations int
	Unknown    int // whose workers were killed before they knew; those in the ledger are judged
	model      porcupine.Model
	info       porcupine.LinearizationInfo
}

// update is one operation, input and output at once.
type update struct {
	Resource string
	Fence    uint64
	Read     int64
	// From is where the register stood before the first operation of a piece of the
	// history; such an operation comes first of each piece but the first.
	From bool
}

// counter is the state of a register.
type counter struct {
	Fence   uint64
	Version int64
}

// pieceLength is how many operations are looked at together at least: a history is cut
// where none is under way, for the cost of looking grows with the square of its length.
const pieceLength = 500

// patience ends the search of a history that is in no order at all.
const patience = 5 * time.Minute

func (c *court) register() (r Register) {
	var all []porcupine.Operation
	for i, w := range c.evidence.Workers {
		operations, unknown := c.updates(i, w)
		all, r.Unknown = append(all, operations...), r.Unknown+unknown
	}
	r.Operations, r.model = len(all), fencedCounter()
	r.Result, r.info = porcupine.CheckOperationsVerbose(r.model, all, patience)
	if r.Result == porcupine.Illegal {
		c.find(Ledger, "", c.evidence.Began,
			"porcupine: the updates have no order in which they could have been made one after the other")
	}
	return r
}

// updates are those of one worker that the ledger accepted. Of those that the worker never
// heard of, the ledger knows whether they were stored, and at which instant they were over.
func (c *court) updates(client int, w *Worker) (all []porcupine.Operation, unknown int) {
	stored := make(map[int64][]ledger.Entry)
	for _, e := range c.evidence.Entries {
		if e.Worker == w.Name {
			stored[e.ID] = append(stored[e.ID], e)
		}
	}
	answers := w.answers()
	nth := make(map[int64]int)
	for _, e := range w.Events {
		if e.Kind != history.Write {
			continue
		}
		i := nth[e.ID]
		nth[e.ID]++
		over := int64(0)
		if known := answers[e.ID]; i < len(known) {
			if !known[i].Accepted {
				continue
			}
			over = known[i].T
		} else {
			unknown++
			at := slices.IndexFunc(stored[e.ID], func(s ledger.Entry) bool { return s.Version == e.Version+1 })
			if at < 0 {
				continue // it has had no effect
			}
			over = stored[e.ID][at].T
		}
		all = append(all, porcupine.Operation{
			ClientId: client, Input: update{Resource: e.Resource, Fence: e.Fence, Read: e.Version}, Call: e.Since,
			Return: over,
		})
	}
	return all, unknown
}

func fencedCounter() porcupine.Model {
	return porcupine.Model{
		Partition: pieces,
		Init:      func() any { return counter{} },
		Step: func(state, input, _ any) (bool, any) {
			s, u := state.(counter), input.(update)
			if u.From {
				return true, counter{u.Fence, u.Read}
			}
			return u.Fence >= s.Fence && u.Read == s.Version, counter{u.Fence, u.Read + 1}
		},
		DescribeOperation: func(input, _ any) string {
			u := input.(update)
			if u.From {
				return fmt.Sprintf("stands at %d", u.Read)
			}
			return fmt.Sprintf("fence %d: %d to %d", u.Fence, u.Read, u.Read+1)
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// pieces cuts a history by resource, and where no operation is under way. However the
// operations of a piece were ordered, each has counted one up: where the next begins is known.
func pieces(all []porcupine.Operation) [][]porcupine.Operation {
	groups := make(map[string][]porcupine.Operation)
	for _, o := range all {
		resource := o.Input.(update).Resource
		groups[resource] = append(groups[resource], o)
	}
	var cut [][]porcupine.Operation
	for _, group := range groups {
		slices.SortFunc(group, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		var piece []porcupine.Operation
		var over int64
		var reached counter
		for _, o := range group {
			if len(piece) >= pieceLength && o.Call > over {
				cut = append(cut, piece)
				from := update{Resource: o.Input.(update).Resource, Fence: reached.Fence, Read: reached.Version,
					From: true}
				piece = []porcupine.Operation{{ClientId: o.ClientId, Input: from, Call: over, Return: over}}
			}
			piece, over = append(piece, o), max(over, o.Return)
			reached = counter{max(reached.Fence, o.Input.(update).Fence), reached.Version + 1}
		}
		cut = append(cut, piece)
	}
	slices.SortFunc(cut, func(a, b []porcupine.Operation) int {
		return strings.Compare(a[len(a)-1].Input.(update).Resource, b[len(b)-1].Input.(update).Resource)
	})
	return cut
}

// Visualize writes a page that shows what was looked at, and how far an order was found.
func (r Register) Visualize(path string) error { return porcupine.VisualizePath(r.model, r.info, path) }

// Ok reports that an order was found.
func (r Register) Ok() bool { return r.Result == porcupine.Ok }
