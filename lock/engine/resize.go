package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// MaxTTL returns the longest TTL that Acquire accepts; see [lock.WithMaxTTL].
func (e *Engine) MaxTTL() time.Duration { return e.Config.MaxTTL }

// ResizeSemaphore tells every node that the semaphore has to slots, where the node knows from or no number. With to 0
// it only asks. It returns what each node knows afterwards, in the order of the nodes. See semaphore.Resize, which makes
// a safe change of it.
//
// ResizeSemaphore waits for every node, for at most one node timeout. A node that does not answer has an error in the
// result, and may have the new number all the same; so has a node whose driver cannot do it, with
// errors.ErrUnsupported. Calling it again is safe. It fails with lock.ErrInvalidResource before it asks, with the error
// of ctx if that ends first, and with lock.ErrClosed after Close. It may run beside other calls. Traces do not report it.
func (e *Engine) ResizeSemaphore(ctx context.Context, name string, from, to int) ([]lock.NodeSlots, error) {
	if err := lock.ValidateResource(name); err != nil {
		return nil, err
	}
	e.WarmUp(ctx)
	r := newResize(e, name, from, to)
	if ctx.Err() == nil && !e.Closing() {
		r.ask(ctx)
	}
	if err := e.Timers.Await(ctx, e.Done, e.Config.LongestNodeTimeout(), r.ready, r.answered); err != nil {
		return nil, fmt.Errorf("lock: slots of %q: %w", name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.nodes, nil
}

// errNoSlots is the answer of a node without a Resize.
var errNoSlots = fmt.Errorf("%w: this driver does not keep the number of slots of a semaphore", errors.ErrUnsupported)

// resize is one question to all nodes.
type resize struct {
	engine *Engine
	began  time.Time
	req    driver.ResizeRequest
	ready  await.Signal // set when all nodes have answered

	mu     sync.Mutex
	nodes  []lock.NodeSlots
	left   int  // nodes that have not answered
	closed bool // later answers do not count
}

func newResize(e *Engine, name string, from, to int) *resize {
	r := &resize{
		engine: e, began: time.Now(), ready: await.NewSignal(), nodes: make([]lock.NodeSlots, len(e.Nodes)),
		left: len(e.Nodes),
		req:  driver.ResizeRequest{Key: e.Config.Prefix + name, From: from, To: to, Keep: slotsKept(e.Config.MaxTTL)},
	}
	for i, n := range e.Nodes {
		r.nodes[i] = lock.NodeSlots{Node: n.Name(), Err: ballot.ErrSilent(e.Config.LongestNodeTimeout())}
	}
	return r
}

// ask sends the question to all nodes.
func (r *resize) ask(ctx context.Context) {
	call := driver.Call{Context: nodes.Values(ctx), Deadline: r.began.Add(r.engine.Config.LongestNodeTimeout())}
	for i, n := range r.engine.Nodes {
		c := &resizeCall{r: r, n: n, index: i}
		asked, ok := n.Node.(driver.SlotKeeper)
		if !ok {
			r.answer(i, 0, errNoSlots)
			continue
		}
		var err error
		if c.probe, err = n.Enter(); err != nil {
			r.answer(i, 0, err)
			continue
		}
		asked.Resize(call, &r.req, c)
	}
}

// resizeCall takes one node's answer.
type resizeCall struct {
	r     *resize
	n     *nodes.Node
	index int
	probe bool
}

// Answer implements driver.Answer.
func (c *resizeCall) Answer(reply driver.ResizeReply, err error) {
	c.n.Exit(c.probe)
	if !errors.Is(err, errors.ErrUnsupported) {
		c.n.Note(time.Since(c.r.began), err)
	}
	c.r.answer(c.index, reply, err)
}

func (r *resize) answer(from int, reply driver.ResizeReply, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	n := &r.nodes[from]
	if n.Err = err; err == nil {
		n.Slots = int(reply)
		if r.req.To != 0 && (n.Slots == 0 || n.Slots == r.req.From) {
			n.Slots = r.req.To
		}
	}
	if r.left--; r.left == 0 {
		r.ready.Set()
	}
}

func (r *resize) answered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left == 0
}
