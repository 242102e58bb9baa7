package revoke

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// ask sends one request to all nodes and waits for every answer, for at most one node timeout.
func ask(ctx context.Context, e *nodes.Set, req driver.RevokeRequest) (answers, error) {
	timeout := e.Config.LongestNodeTimeout()
	r := &round{set: e, began: time.Now(), req: req, ready: await.NewSignal(), left: len(e.Nodes)}
	for _, n := range e.Nodes {
		r.answers = append(r.answers, answer{name: n.Name(), err: ballot.ErrSilent(timeout)})
	}
	if ctx.Err() == nil && !e.Closing() {
		r.ask(ctx, timeout)
	}
	err := e.Timers.Await(ctx, e.Done, timeout, r.ready, r.answered)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return answers{nodes: r.answers, quorum: e.Quorum, began: r.began}, err
}

// round is one question to all nodes.
type round struct {
	set   *nodes.Set
	began time.Time
	req   driver.RevokeRequest
	ready await.Signal // set when all nodes have answered

	mu      sync.Mutex
	answers []answer
	left    int  // nodes that have not answered
	closed  bool // later answers do not count
}

// ask sends the question to all nodes.
func (r *round) ask(ctx context.Context, timeout time.Duration) {
	call := driver.Call{Context: nodes.Values(ctx), Deadline: r.began.Add(timeout)}
	for i, n := range r.set.Nodes {
		c := &nodeCall{r: r, n: n, index: i}
		asked, ok := n.Node.(driver.Revoker)
		if !ok {
			r.answer(i, driver.RevokeReply{}, ErrUnsupported)
			continue
		}
		var err error
		if c.probe, err = n.Enter(); err != nil {
			r.answer(i, driver.RevokeReply{}, err)
			continue
		}
		asked.Revoke(call, &r.req, c)
	}
}

// nodeCall takes one node's answer.
type nodeCall struct {
	r     *round
	n     *nodes.Node
	index int
	probe bool
}

// Answer implements driver.Answer.
func (c *nodeCall) Answer(reply driver.RevokeReply, err error) {
	c.n.Exit(c.probe)
	if !errors.Is(err, errors.ErrUnsupported) {
		c.n.Note(time.Since(c.r.began), err)
	}
	c.r.answer(c.index, reply, err)
}

func (r *round) answer(from int, reply driver.RevokeReply, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	a := &r.answers[from]
	a.reply, a.at, a.err = reply, time.Now(), err
	if r.left--; r.left == 0 {
		r.ready.Set()
	}
}

func (r *round) answered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left == 0
}
