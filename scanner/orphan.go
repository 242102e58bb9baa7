package scanner

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

// orphans compares lockscope's locks on one node with those on the others, a page
// at a time.
type orphans struct {
	sources []*node.Source
	one     bool   // they are those of one Redlock; see prove
	doubt   string // why that is not proved

	mu   sync.Mutex
	down map[*node.Source]bool // did not answer in this sweep
}

func newOrphans(sources []*node.Source) *orphans {
	return &orphans{sources: sources, down: make(map[*node.Source]bool)}
}

// possible says whether there are other nodes to compare with, and it makes sense to.
func (o *orphans) possible() bool { return o.one }

// markDown takes it that the node does not answer, for the rest of the sweep. One
// unreachable master makes its whole cluster unknown: whose slot a key's is, this
// sweep need not find out.
func (o *orphans) markDown(s *node.Source) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down[s] = true
}

func (o *orphans) isDown(s *node.Source) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.down[s]
}

// tally is what the nodes say of one lock.
type tally struct {
	value   *keyreader.Value
	token   string
	same    int // nodes that have it
	unknown int // nodes that did not answer
	nodes   int
}

func (c *tally) quorum() int { return c.nodes/2 + 1 }

// minority says that the lock has no quorum, whatever the unknown nodes have.
func (c *tally) minority() bool { return c.same+c.unknown < c.quorum() }

// held says that it has one.
func (c *tally) held() bool { return c.same >= c.quorum() }

func (c *tally) evidence() string {
	return fmt.Sprintf("its token is on %d of %d nodes and a quorum is %d: it is nobody's lock, and in the way of others",
		c.same, c.nodes, c.quorum())
}

// count finds out how many nodes have the locks found on src, and with how many
// commands. It asks one node after the other, and only about locks that are not
// decided yet.
func (o *orphans) count(ctx context.Context, src *node.Source, locks []*keyreader.Value) (all []*tally, calls int64) {
	all = make([]*tally, len(locks))
	for i, v := range locks {
		all[i] = &tally{value: v, token: value.Token(v), same: 1, unknown: len(o.sources) - 1, nodes: len(o.sources)}
	}
	open := slices.Clone(all)
	at := slices.Index(o.sources, src)
	for i := 1; i < len(o.sources) && len(open) > 0; i++ {
		calls += o.ask(ctx, o.sources[(at+i)%len(o.sources)], open)
		open = slices.DeleteFunc(open, func(c *tally) bool { return c.held() || c.minority() })
	}
	return all, calls
}

// ask counts the locks that src has under the same token.
func (o *orphans) ask(ctx context.Context, src *node.Source, open []*tally) (calls int64) {
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
func (o *orphans) askBatch(ctx context.Context, src *node.Source, batch []*tally) {
	keys := make([]string, len(batch))
	for i, c := range batch {
		keys[i] = c.value.Key
	}
	heads, err := keyreader.Heads(ctx, src.Client, keys, value.TokenLength)
	if err != nil {
		if !clock.Ended(ctx) {
			o.markDown(src)
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
