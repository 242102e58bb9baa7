// Package question asks all nodes one question, and collects what they say.
package question

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/await"
	"github.com/lockscope/lockscope/lock/engine/internal/ballot"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// Question is what all nodes are asked.
type Question[T any] struct {
	Timeout time.Duration   // of the call on each node
	Wait    context.Context // see driver.Call; nil if nobody only waits
	// Send hands the question to a node.
	Send func(n driver.Node, call driver.Call, to driver.Answer[T])
	// Enough reports that no further answer can matter. If it is nil, all nodes are waited for.
	Enough func([]Answer[T]) bool
}

// Answer is what one node said.
type Answer[T any] struct {
	Node     string
	Answered bool
	Reply    T
	At       time.Time // of the answer
	Err      error     // also while there is no answer
}

// Ask waits until the answers are enough, for at most the timeout. It returns those that it has, in the order of the
// nodes, and when it began. It fails only if ctx ends, or if the set is closed.
func Ask[T any](ctx context.Context, e *nodes.Set, q Question[T]) (all []Answer[T], began time.Time, err error) {
	e.WarmUp(ctx)
	r := &round[T]{Question: q, began: time.Now(), ready: await.NewSignal(), answers: make([]Answer[T], len(e.Nodes))}
	for i, n := range e.Nodes {
		r.answers[i] = Answer[T]{Node: n.Name(), Err: ballot.ErrSilent(q.Timeout)}
	}
	if ctx.Err() == nil && !e.Closing() {
		r.ask(ctx, e.Nodes)
	}
	err = e.Timers.Await(ctx, e.Done, q.Timeout, r.ready, r.isEnough)
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.answers), r.began, err
}

// round is a question under way.
type round[T any] struct {
	Question[T]
	began time.Time
	ready await.Signal // set when the answers may be enough

	mu      sync.Mutex
	answers []Answer[T]
}

func (r *round[T]) ask(ctx context.Context, all []*nodes.Node) {
	call := driver.Call{Context: nodes.Values(ctx, nil), Deadline: r.began.Add(r.Timeout), Wait: r.Wait}
	for i, n := range all {
		probe, err := n.Enter()
		if err != nil {
			r.answer(i, *new(T), err)
			continue
		}
		r.Send(n.Node, call, &nodeCall[T]{r: r, n: n, index: i, probe: probe})
	}
}

// nodeCall takes one node's answer.
type nodeCall[T any] struct {
	r     *round[T]
	n     *nodes.Node
	index int
	probe bool
}

// Answer implements driver.Answer.
func (c *nodeCall[T]) Answer(reply T, err error) {
	c.n.Exit(c.probe)
	if !errors.Is(err, errors.ErrUnsupported) {
		c.n.Note(time.Since(c.r.began), err)
	}
	c.r.answer(c.index, reply, err)
}

func (r *round[T]) answer(from int, reply T, err error) {
	r.mu.Lock()
	a := &r.answers[from]
	a.Answered, a.Reply, a.At, a.Err = true, reply, time.Now(), err
	enough := r.enough()
	r.mu.Unlock()
	if enough {
		r.ready.Set()
	}
}

func (r *round[T]) isEnough() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.enough()
}

func (r *round[T]) enough() bool {
	waits := slices.ContainsFunc(r.answers, func(a Answer[T]) bool { return !a.Answered })
	return !waits || r.Enough != nil && r.Enough(r.answers)
}

// NoQuorum is the error when too few answers agree.
func NoQuorum[T any](
	resource string, op lock.Operation, quorum int, all []Answer[T], agrees func(Answer[T]) bool,
) *lock.QuorumError {
	e := &lock.QuorumError{Resource: resource, Op: op, Nodes: len(all), Quorum: quorum}
	for _, a := range all {
		v := lock.NodeVote{Node: a.Node, Verdict: lock.VerdictRefused}
		switch {
		case a.Err != nil:
			v.Verdict, v.Err = lock.VerdictFailed, a.Err
			e.Errors = append(e.Errors, &lock.NodeError{Node: a.Node, Op: op, Err: a.Err})
		case agrees(a):
			v.Verdict = lock.VerdictGranted
			e.Granted++
		default:
			e.Refused++
		}
		e.Votes = append(e.Votes, v)
	}
	return e
}
