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
)

// peekAt asks all nodes who holds the resource. A quorum decides.
func peekAt(ctx context.Context, e *set, resource string) (lock.Sighting, error) {
	e.warm.await(ctx, e)
	timeout := e.cfg.nodeTimeout(lock.DefaultTTL)
	p := newPeek(e, resource, timeout)
	if ctx.Err() == nil && !e.closing() {
		p.ask(ctx)
	}
	if err := e.timers.Await(ctx, e.done, timeout, p.ready, p.enough); err != nil {
		return lock.Sighting{}, fmt.Errorf("lock: peek at %q: %w", resource, err)
	}
	return p.result()
}

// errNoPeek is the answer of a node without a Peek.
var errNoPeek = fmt.Errorf("%w: this driver cannot read who holds a lock without asking for it", errors.ErrUnsupported)

// peek is one question to all nodes.
type peek struct {
	set   *set
	began time.Time
	req   driver.PeekRequest
	ready await.Signal // set when the answers may decide

	mu      sync.Mutex
	answers peekAnswers // guarded by mu
}

func newPeek(e *set, resource string, timeout time.Duration) *peek {
	p := &peek{
		set: e, began: time.Now(), req: driver.PeekRequest{Key: e.cfg.prefix + resource}, ready: await.NewSignal(),
	}
	p.answers = peekAnswers{resource: resource, quorum: e.quorum, nodes: make([]peekAnswer, len(e.nodes))}
	for i, n := range e.nodes {
		p.answers.nodes[i] = peekAnswer{name: n.Name(), err: ballot.ErrSilent(timeout)}
	}
	return p
}

// ask sends the question to all nodes.
func (p *peek) ask(ctx context.Context) {
	call := driver.Call{Context: valuesOf(ctx), Deadline: p.began.Add(p.set.cfg.nodeTimeout(lock.DefaultTTL))}
	call.Wait = p.set.onlyWait(ctx).Context
	for i, n := range p.set.nodes {
		c := &peekCall{p: p, n: n, index: i}
		asked, ok := n.Node.(driver.Peeker)
		if !ok {
			p.answer(i, driver.PeekReply{}, errNoPeek)
			continue
		}
		var err error
		if c.probe, err = n.enter(); err != nil {
			p.answer(i, driver.PeekReply{}, err)
			continue
		}
		asked.Peek(call, &p.req, c)
	}
}

// peekCall takes one node's answer.
type peekCall struct {
	p     *peek
	n     *node
	index int
	probe bool
}

// Answer implements driver.Answer.
func (c *peekCall) Answer(reply driver.PeekReply, err error) {
	c.n.leave(c.probe)
	c.n.note(time.Since(c.p.began), err)
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
