// Package peek asks nodes who holds a resource, and changes nothing on them.
package peek

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

// Ask asks all nodes who holds the resource. A quorum decides.
func Ask(ctx context.Context, e *nodes.Set, resource string) (lock.Sighting, error) {
	e.WarmUp(ctx)
	timeout := e.Config.NodeTimeout(lock.DefaultTTL)
	p := newPeek(e, resource, timeout)
	if ctx.Err() == nil && !e.Closing() {
		p.ask(ctx)
	}
	if err := e.Timers.Await(ctx, e.Done, timeout, p.ready, p.enough); err != nil {
		return lock.Sighting{}, fmt.Errorf("lock: peek at %q: %w", resource, err)
	}
	return p.result()
}

// ErrUnsupported is the answer of a node without a Peek.
var ErrUnsupported = fmt.Errorf("%w: this driver cannot read who holds a lock without asking for it", errors.ErrUnsupported)

// peek is one question to all nodes.
type peek struct {
	set   *nodes.Set
	began time.Time
	req   driver.PeekRequest
	ready await.Signal // set when the answers may decide

	mu      sync.Mutex
	answers answers // guarded by mu
}

func newPeek(e *nodes.Set, resource string, timeout time.Duration) *peek {
	p := &peek{
		set: e, began: time.Now(), req: driver.PeekRequest{Key: e.Config.Prefix + resource}, ready: await.NewSignal(),
	}
	p.answers = answers{resource: resource, quorum: e.Quorum, nodes: make([]answer, len(e.Nodes))}
	for i, n := range e.Nodes {
		p.answers.nodes[i] = answer{name: n.Name(), err: ballot.ErrSilent(timeout)}
	}
	return p
}

// ask sends the question to all nodes.
func (p *peek) ask(ctx context.Context) {
	call := driver.Call{Context: nodes.Values(ctx), Deadline: p.began.Add(p.set.Config.NodeTimeout(lock.DefaultTTL))}
	call.Wait = p.set.OnlyWait(ctx).Context
	for i, n := range p.set.Nodes {
		c := &peekCall{p: p, n: n, index: i}
		asked, ok := n.Node.(driver.Peeker)
		if !ok {
			p.answer(i, driver.PeekReply{}, ErrUnsupported)
			continue
		}
		var err error
		if c.probe, err = n.Enter(); err != nil {
			p.answer(i, driver.PeekReply{}, err)
			continue
		}
		asked.Peek(call, &p.req, c)
	}
}

// peekCall takes one node's answer.
type peekCall struct {
	p     *peek
	n     *nodes.Node
	index int
	probe bool
}

// Answer implements driver.Answer.
func (c *peekCall) Answer(reply driver.PeekReply, err error) {
	c.n.Exit(c.probe)
	c.n.Note(time.Since(c.p.began), err)
	c.p.answer(c.index, reply, err)
}

func (p *peek) answer(from int, reply driver.PeekReply, err error) {
	p.mu.Lock()
	a := &p.answers.nodes[from]
	a.answered, a.reply, a.at, a.err = true, reply, time.Now(), err
	decided := p.answers.decided()
	p.mu.Unlock()
	if decided {
		p.ready.Set()
	}
}

func (p *peek) enough() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers.decided()
}

// result is what the answers amount to, once they decide or time is up.
func (p *peek) result() (lock.Sighting, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, err := p.answers.sighting()
	s.Resource, s.SeenAt = p.answers.resource, p.began
	return s, err
}
