// Package orphan finds locks that only a minority of a Redlock's nodes has: nobody holds them, and they block others.
// It looks only where the nodes are proved to form one Redlock (membership.go).
package orphan

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/value"
)

// Redlock compares lockscope's locks on one node with those on the others, a page at a time.
type Redlock struct {
	sources []*node.Source
	one     bool   // they are those of one Redlock; see Prove
	doubt   string // why that is not proved

	mu   sync.Mutex
	down map[*node.Source]bool // did not answer in this sweep
}

// New makes a Redlock of the sources. Call [Redlock.Prove] first.
func New(sources []*node.Source) *Redlock {
	return &Redlock{sources: sources, down: make(map[*node.Source]bool)}
}

// Possible reports whether orphans can be looked for.
func (o *Redlock) Possible() bool { return o.one }

// Doubt says why the nodes are not proved to form one Redlock; "" if they are.
func (o *Redlock) Doubt() string { return o.doubt }

// MarkDown marks a node as not answering for the rest of the sweep. One unreachable master makes its whole cluster
// unknown, because this sweep does not look up slots.
func (o *Redlock) MarkDown(s *node.Source) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down[s] = true
}

func (o *Redlock) isDown(s *node.Source) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.down[s]
}

// Tally counts what the nodes have of one lock.
type Tally struct {
	Value   *keyreader.Value
	token   string
	same    int // nodes that have it
	unknown int // nodes that did not answer
	nodes   int
}

func (c *Tally) quorum() int { return c.nodes/2 + 1 }

// Minority reports whether the lock has no quorum, whatever the unknown nodes have.
func (c *Tally) Minority() bool { return c.same+c.unknown < c.quorum() }

// HasQuorum reports whether the lock has a quorum.
func (c *Tally) HasQuorum() bool { return c.same >= c.quorum() }

// Evidence explains a lock without a quorum.
func (c *Tally) Evidence() string {
	return fmt.Sprintf(
		"its token is on %d of %d nodes, below the quorum of %d: nobody holds the lock, and it blocks others",
		c.same, c.nodes, c.quorum())
}

// Count finds out how many nodes have the locks found on src, and how many commands that took. It asks one node after
// the other, and only about locks that are still undecided.
func (o *Redlock) Count(ctx context.Context, src *node.Source, locks []*keyreader.Value) (all []*Tally, calls int64) {
	all = make([]*Tally, len(locks))
	for i, v := range locks {
		all[i] = &Tally{Value: v, token: value.Token(v), same: 1, unknown: len(o.sources) - 1, nodes: len(o.sources)}
	}
	open := slices.Clone(all)
	at := slices.Index(o.sources, src)
	for i := 1; i < len(o.sources) && len(open) > 0; i++ {
		calls += o.ask(ctx, o.sources[(at+i)%len(o.sources)], open)
		open = slices.DeleteFunc(open, func(c *Tally) bool { return c.HasQuorum() || c.Minority() })
	}
	return all, calls
}

// ask counts the locks that src has with the same token.
func (o *Redlock) ask(ctx context.Context, src *node.Source, open []*Tally) (calls int64) {
	for batch := range slices.Chunk(open, keyreader.Batch) {
		if ctx.Err() != nil || o.isDown(src) {
			return calls
		}
		calls += int64(len(batch))
		o.askBatch(ctx, src, batch)
	}
	return calls
}

// askBatch leaves the locks unknown if src does not answer.
func (o *Redlock) askBatch(ctx context.Context, src *node.Source, batch []*Tally) {
	keys := make([]string, len(batch))
	for i, c := range batch {
		keys[i] = c.Value.Key
	}
	heads, err := keyreader.Heads(ctx, src.Client, keys, value.TokenLength)
	if err != nil {
		if !clock.Ended(ctx) {
			o.MarkDown(src)
		}
		return
	}
	for i, c := range batch {
		if !heads[i].Known {
			continue
		}
		c.unknown--
		if heads[i].Text == c.token {
			c.same++
		}
	}
}
