package engine

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/internal/question"
)

// Peek asks all nodes who holds the resource, and changes nothing on them: no waiter queues, no
// lease is granted, prolonged or ended. A quorum decides. The answer is a hint; see [lock.Sighting].
//
// Peek takes at most one node timeout, and less once the answers that are missing cannot matter.
// It returns *lock.QuorumError if the nodes that answered do not decide: with each node's error, and
// matching errors.ErrUnsupported if nodes have no such operation. It returns the error of ctx if
// that ends first, and ErrClosed after Close. Traces do not report it.
func (e *Engine) Peek(ctx context.Context, resource string) (lock.Sighting, error) {
	if err := lock.ValidateResource(resource); err != nil {
		return lock.Sighting{}, err
	}
	return question.Peek(ctx, e.Set, resource)
}
