package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/question"
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
	req := &driver.ResizeRequest{
		Key: e.Config.Prefix + name, From: from, To: to, Keep: e.Config.SlotsKept(),
	}
	said, _, err := question.Ask(ctx, e.Set, question.Question[driver.ResizeReply]{
		Timeout: e.Config.LongestNodeTimeout(),
		Send: func(n driver.Node, call driver.Call, to driver.Answer[driver.ResizeReply]) {
			n.Resize(call, req, to)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("lock: slots of %q: %w", name, err)
	}
	all := make([]lock.NodeSlots, len(said))
	for i, a := range said {
		all[i] = lock.NodeSlots{Node: a.Node, Err: a.Err}
		switch known := int(a.Reply); { // before
		case a.Err != nil:
		case to != 0 && (known == 0 || known == from):
			all[i].Slots = to
		default:
			all[i].Slots = known
		}
	}
	return all, nil
}
