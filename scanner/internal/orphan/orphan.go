// Package orphan finds locks that only a minority of a Redlock's nodes has: nobody holds them, and they block others.
// It looks only where the nodes are proved to form one Redlock (membership.go).
package orphan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// Redlock compares the locks on one node with those on the others, a page at a time.
type Redlock struct {
	sources []*node.Source
	one     bool   // they are those of one Redlock; see Prove
	said    bool   // by the caller, so of the locks of every library
	doubt   string // why that is not proved
	open    bool   // nor is the opposite: some servers do not answer, or have no marker since a restart

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

// Quorum returns how many nodes a quorum needs; 0 if the sources are not known to form one Redlock. If [Redlock.Prove]
// left that open, before is the answer. With a cluster it is 0: its masters are several nodes and have one vote.
func (o *Redlock) Quorum(said bool, before int) int {
	switch {
	case slices.ContainsFunc(o.sources, func(s *node.Source) bool { return s.Cluster != nil }):
		return 0
	case said || o.one:
		return len(o.sources)/2 + 1
	case o.open:
		return before
	}
	return 0
}

// Compares reports whether the nodes are those that the lock needs a quorum of, and its value shows which attempt of
// its library it is of. Locks of other libraries may need one of the nodes alone unless the caller said that all of
// them are one Redlock.
func (o *Redlock) Compares(v *keyreader.Value) bool {
	return o.one && (holders.Token(v) != "" || o.said && holders.OtherToken(v) != "")
}

// Uncompared says why [Redlock.Compares] refuses a lock of another library.
func (o *Redlock) Uncompared() string {
	if o.said {
		return "their values have no form that shows one lease on several nodes"
	}
	return "they may need one node alone. If they need a quorum of these nodes, declare it (WithOneRedlock, --redlock)"
}

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
	whole   bool // the token is the whole value
	same    int  // nodes that have it
	unknown int  // nodes that did not answer
	nodes   int
}

func (c *Tally) quorum() int { return c.nodes/2 + 1 }

// Minority reports whether the lock has no quorum, whatever the unknown nodes have.
func (c *Tally) Minority() bool { return c.same+c.unknown < c.quorum() }

// HasQuorum reports whether the lock has a quorum.
func (c *Tally) HasQuorum() bool { return c.same >= c.quorum() }

// Evidence explains a lock without a quorum.
func (c *Tally) Evidence() string {
	switch {
	case c.Value.Type == keyreader.Hash:
		return fmt.Sprintf("its token is on %d of %d nodes, below the quorum of %d: "+
			"it may not read, and it keeps writers from this node", c.same, c.nodes, c.quorum())
	case c.whole:
		return fmt.Sprintf("its value is on %d of %d nodes, below the quorum of %d: "+
			"nobody holds the lock unless its program locks on this node alone", c.same, c.nodes, c.quorum())
	}
	return fmt.Sprintf(
		"its token is on %d of %d nodes, below the quorum of %d: nobody holds the lock, and it blocks others",
		c.same, c.nodes, c.quorum())
}

// Count finds out how many nodes have the locks found on src, and how many commands that took. Each of them is one
// attempt's; see [holders.Votes] and [Redlock.Compares]. It asks one node after the other, and only about locks that
// are still undecided.
func (o *Redlock) Count(ctx context.Context, src *node.Source, locks []*keyreader.Value) (all []*Tally, calls int64) {
	all = make([]*Tally, len(locks))
	for i, v := range locks {
		all[i] = &Tally{Value: v, token: holders.Token(v), same: 1, unknown: len(o.sources) - 1, nodes: len(o.sources)}
		if all[i].token == "" {
			all[i].token, all[i].whole = holders.OtherToken(v), true
		}
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
	var locks, readers []*Tally
	for _, c := range open {
		if c.Value.Type == keyreader.Hash {
			readers = append(readers, c)
		} else {
			locks = append(locks, c)
		}
	}
	for batch := range slices.Chunk(locks, keyreader.Batch) {
		calls += o.askBatch(ctx, src, batch, haveLocks)
	}
	for batch := range slices.Chunk(readers, keyreader.Batch) {
		calls += o.askBatch(ctx, src, batch, haveReaders)
	}
	return calls
}

// asking finds out what a source has of the locks of a batch.
type asking func(ctx context.Context, src *node.Source, batch []*Tally) ([]answer, error)

// answer is what one node has of one lock.
type answer struct{ known, same bool }

// askBatch leaves the locks unknown if src does not answer.
func (o *Redlock) askBatch(ctx context.Context, src *node.Source, batch []*Tally, have asking) (calls int64) {
	if ctx.Err() != nil || o.isDown(src) {
		return 0
	}
	answers, err := have(ctx, src, batch)
	if err != nil {
		if !clock.Ended(ctx) {
			o.MarkDown(src)
		}
		return int64(len(batch))
	}
	for i, c := range batch {
		if !answers[i].known {
			continue
		}
		c.unknown--
		if answers[i].same {
			c.same++
		}
	}
	return int64(len(batch))
}

// haveLocks compares the tokens with which the values of lockscope's locks begin, and whole values of others.
func haveLocks(ctx context.Context, src *node.Source, batch []*Tally) ([]answer, error) {
	keys := make([]string, len(batch))
	for i, c := range batch {
		keys[i] = c.Value.Key
	}
	heads, err := keyreader.Heads(ctx, src.Client, keys, keyreader.HeadSize)
	answers := make([]answer, len(heads))
	for i, head := range heads {
		same := head.Text == batch[i].token || !batch[i].whole && strings.HasPrefix(head.Text, batch[i].token)
		answers[i] = answer{known: head.Known, same: same}
	}
	return answers, err
}

// haveReaders looks for the tokens of readers among those of each lock. A reader whose time is over counts as one that
// the node has: its fields do not show what the node's clock is.
func haveReaders(ctx context.Context, src *node.Source, batch []*Tally) ([]answer, error) {
	at := make(map[string]int)
	var keys []string
	for _, c := range batch {
		if _, known := at[c.Value.Key]; !known {
			at[c.Value.Key], keys = len(keys), append(keys, c.Value.Key)
		}
	}
	fields, err := keyreader.FieldsOf(ctx, src.Client, keys)
	if err != nil {
		return nil, err
	}
	answers := make([]answer, len(batch))
	for i, c := range batch {
		of := fields[at[c.Value.Key]]
		_, same := of.Values[c.token]
		answers[i] = answer{known: of.Known, same: same}
	}
	return answers, nil
}
