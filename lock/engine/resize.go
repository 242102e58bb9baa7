package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/question"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// Resize changes the number of slots of a semaphore on all nodes. from is the number that they know now. When Resize
// has returned nil, at most to permits of name are valid.
//
// As soon as a majority of the nodes knows the new number, calls of processes with the old one fail with
// *lock.SlotsError. Restart them with the new number. Their permits stay valid, except on slots that are gone: these
// cannot be renewed. So a smaller number is true one lock.WithMaxTTL and a margin later, and Resize waits for that. A
// larger one is true at once.
//
// Resize changes nothing unless each node answers, and knows from, to or no number. It fails with *ResizeError, which
// says what each node knows, if that is not so, if a node does not answer to the change, or if ctx ends. Then call Resize
// again with the same numbers: it changes the other nodes, and waits again. Two calls at once with different numbers can
// both fail. Stop processes with the old number also because a node may forget the number together with its other data,
// and then takes that of the first caller.
//
// Resize fails with lock.ErrInvalidOption if a number is not in 1 to 100, and with lock.ErrInvalidResource for a name
// that semaphore.New refuses. Nodes that do not keep the number have an error that matches errors.ErrUnsupported. Traces
// do not report it.
func (e *Engine) Resize(ctx context.Context, name string, from, to int) error {
	for _, k := range []int{from, to} {
		if err := records.ValidateSemaphore(name, k); err != nil {
			return err
		}
	}
	r := &resize{engine: e, name: name, from: from, to: to}
	if err := r.round(ctx, 0, r.mayChange); err != nil {
		return err
	}
	if err := r.round(ctx, to, r.hasNew); err != nil {
		return err
	}
	if to < from {
		if err := r.outlast(ctx); err != nil {
			return err
		}
	}
	return r.round(ctx, 0, r.hasNew) // somebody may have changed it again
}

// resize is one call of Resize.
type resize struct {
	engine   *Engine
	name     string
	from, to int
	found    []NodeSlots // in the last round
}

// round asks all nodes, and changes the number unless to is 0. It fails unless what each knows then is right.
func (r *resize) round(ctx context.Context, to int, right func(slots int) bool) error {
	found, err := r.ask(ctx, to)
	if err != nil {
		return r.failed(err)
	}
	r.found = found
	for _, n := range found {
		if n.Err != nil || !right(n.Slots) {
			return r.failed(nil)
		}
	}
	return nil
}

func (r *resize) mayChange(slots int) bool { return slots == 0 || slots == r.from || slots == r.to }

func (r *resize) hasNew(slots int) bool { return slots == r.to }

// ask waits for every node, for at most one node timeout. A node that does not answer may have the new number all the
// same. The result is in the order of the nodes.
func (r *resize) ask(ctx context.Context, to int) ([]NodeSlots, error) {
	config := r.engine.Config
	req := &driver.ResizeRequest{Key: config.Prefix + r.name, From: r.from, To: to, Keep: config.SlotsKept()}
	answers, _, err := question.Ask(ctx, r.engine.Set, question.Question[driver.ResizeReply]{
		Timeout: config.LongestNodeTimeout(),
		Send: func(n driver.Node, call driver.Call, to driver.Answer[driver.ResizeReply]) {
			n.Resize(call, req, to)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("lock: slots of %q: %w", r.name, err)
	}
	all := make([]NodeSlots, len(answers))
	for i, a := range answers {
		all[i] = NodeSlots{Node: a.Node, Err: a.Err}
		switch known := int(a.Reply); { // before
		case a.Err != nil:
		case to != 0 && (known == 0 || known == r.from):
			all[i].Slots = to
		default:
			all[i].Slots = known
		}
	}
	return all, nil
}

// outlast waits until no permit of a slot that is gone is valid: nobody can renew it since all nodes know the new number.
func (r *resize) outlast(ctx context.Context) error {
	longest := r.engine.Config.MaxTTL
	margin := longest/50 + 100*time.Millisecond // holders' clocks may be slower than this one
	timer := time.NewTimer(longest + margin)
	defer timer.Stop()
	until := time.Now().Add(longest + margin)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		e := r.failed(ctx.Err())
		e.Until = until
		return e
	}
}

func (r *resize) failed(err error) *ResizeError {
	return &ResizeError{Name: r.name, From: r.from, To: r.to, Nodes: r.found, Err: err}
}
