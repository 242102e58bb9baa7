package semaphore

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Resizer changes the number of slots that the nodes know. An engine.Engine does, if its driver supports that: memlock,
// and redlock without a Redis Cluster. A decorator does not; give Resize the engine below it.
type Resizer interface {
	ResizeSemaphore(ctx context.Context, name string, from, to int) ([]lock.NodeSlots, error)
	MaxTTL() time.Duration
}

// Resize changes the number of slots of a semaphore on all nodes. from is the number that they know now. When Resize
// has returned nil, at most to permits of name are valid.
//
// As soon as a majority of the nodes knows the new number, calls of processes with the old one fail with *lock.SlotsError.
// Restart them with the new number. Their permits stay valid, except on slots that are gone: these cannot be renewed.
// So a smaller number is true one lock.WithMaxTTL and a margin later, and Resize waits for that. A larger one is true at
// once.
//
// Resize changes nothing unless each node answers, and knows from, to or no number. It fails with *ResizeError, which
// says what each node knows, if that is not so, if a node does not answer to the change, or if ctx ends. Then call Resize
// again with the same numbers: it changes the other nodes, and waits again. Two calls at once with different numbers can
// both fail. Stop processes with the old number also because a node may forget the number together with its other data,
// and then takes that of the first caller.
//
// Resize fails with lock.ErrInvalidOption if nodes is nil, or if a number is not in 1 to 100, and with
// lock.ErrInvalidResource for a name that New refuses. Nodes that do not keep the number have an error that matches
// errors.ErrUnsupported.
func Resize(ctx context.Context, nodes Resizer, name string, from, to int) error {
	if nodes == nil {
		return fmt.Errorf("%w: semaphore %q: the Resizer must not be nil", lock.ErrInvalidOption, name)
	}
	for _, k := range []int{from, to} {
		if err := validate(name, k); err != nil {
			return err
		}
	}
	a := &act{nodes: nodes, name: name, from: from, to: to}
	if err := a.round(ctx, 0, a.mayChange); err != nil {
		return err
	}
	if err := a.round(ctx, to, a.hasNew); err != nil {
		return err
	}
	if to < from {
		if err := a.outlast(ctx); err != nil {
			return err
		}
	}
	return a.round(ctx, 0, a.hasNew) // somebody may have changed it again
}

// act is one Resize.
type act struct {
	nodes    Resizer
	name     string
	from, to int
	found    []lock.NodeSlots // in the last round
}

// round asks all nodes, and changes the number unless to is 0. It fails unless what each knows then is right.
func (a *act) round(ctx context.Context, to int, right func(slots int) bool) error {
	found, err := a.nodes.ResizeSemaphore(ctx, a.name, a.from, to)
	if err != nil {
		return a.failed(err)
	}
	a.found = found
	for _, n := range found {
		if n.Err != nil || !right(n.Slots) {
			return a.failed(nil)
		}
	}
	return nil
}

func (a *act) mayChange(slots int) bool { return slots == 0 || slots == a.from || slots == a.to }

func (a *act) hasNew(slots int) bool { return slots == a.to }

// outlast waits until no permit of a slot that is gone is valid: nobody can renew it since all nodes know the new number.
func (a *act) outlast(ctx context.Context) error {
	longest := a.nodes.MaxTTL()
	margin := longest/50 + 100*time.Millisecond // holders' clocks may be slower than this one
	timer := time.NewTimer(longest + margin)
	defer timer.Stop()
	until := time.Now().Add(longest + margin)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		e := a.failed(ctx.Err())
		e.Until = until
		return e
	}
}

func (a *act) failed(err error) *ResizeError {
	return &ResizeError{Name: a.name, From: a.from, To: a.to, Nodes: a.found, Err: err}
}
