package scanner

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// orphans compares lockscope's locks on one node with those on the others, a page
// at a time.
type orphans struct {
	sources []*source

	mu   sync.Mutex
	down map[*source]bool // did not answer in this sweep
}

func newOrphans(sources []*source) *orphans {
	return &orphans{sources: sources, down: make(map[*source]bool)}
}

// markDown takes it that the node does not answer, for the rest of the sweep. One
// unreachable master makes its whole cluster unknown: whose slot a key's is, this
// sweep need not find out.
func (o *orphans) markDown(s *source) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down[s] = true
}

func (o *orphans) isDown(s *source) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.down[s]
}

// tally is what the nodes say of one lock.
type tally struct {
	value   *value
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

// count finds out how many nodes have the target's locks. It asks one node after
// the other, and only about locks that are not decided yet.
func (o *orphans) count(ctx context.Context, t *target, locks []*value) []*tally {
	all := make([]*tally, len(locks))
	for i, v := range locks {
		all[i] = &tally{value: v, token: v.token(), same: 1, unknown: len(o.sources) - 1, nodes: len(o.sources)}
	}
	open := slices.Clone(all)
	at := slices.Index(o.sources, t.source)
	for i := 1; i < len(o.sources) && len(open) > 0; i++ {
		o.ask(ctx, t, o.sources[(at+i)%len(o.sources)], open)
		open = slices.DeleteFunc(open, func(c *tally) bool { return c.held() || c.minority() })
	}
	return all
}

// ask counts the locks that src has under the same token.
func (o *orphans) ask(ctx context.Context, t *target, src *source, open []*tally) {
	for batch := range slices.Chunk(open, lookBatch) {
		if ctx.Err() != nil || o.isDown(src) {
			return
		}
		o.askBatch(ctx, t, src, batch)
	}
}

// askBatch leaves the locks unknown if src does not answer.
func (o *orphans) askBatch(ctx context.Context, t *target, src *source, batch []*tally) {
	pipe := src.client.Pipeline()
	cmds := make([]*redis.Cmd, len(batch))
	for i, c := range batch {
		cmds[i] = pipe.Do(ctx, "getrange", c.value.key, 0, tokenLength-1)
	}
	t.calls += int64(len(batch))
	_, _ = pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !aboutKey(err) {
			if !ended(ctx) {
				o.markDown(src)
			}
			return
		}
	}
	for i, c := range batch {
		c.unknown--
		if token, err := cmds[i].Text(); err == nil && token == c.token {
			c.same++
		}
	}
}
