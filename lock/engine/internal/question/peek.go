package question

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine/internal/nodes"
)

// Peek asks all nodes who holds the resource, and changes nothing on them. A quorum decides.
func Peek(ctx context.Context, e *nodes.Set, resource string) (lock.Sighting, error) {
	req := &driver.PeekRequest{Key: e.Config.Prefix + resource}
	p := answers{resource: resource, quorum: e.Quorum}
	said, began, err := Ask(ctx, e, Question[driver.PeekReply]{
		Timeout: e.Config.NodeTimeout(lock.DefaultTTL), Wait: e.OnlyWait(ctx).Context,
		Send:   func(n driver.Node, call driver.Call, to driver.Answer[driver.PeekReply]) { n.Peek(call, req, to) },
		Enough: func(said []answer) bool { return answers{resource, e.Quorum, said}.decided() },
	})
	if err != nil {
		return lock.Sighting{}, fmt.Errorf("lock: peek at %q: %w", resource, err)
	}
	p.nodes = said
	s, err := p.sighting()
	s.Resource, s.SeenAt = resource, began
	return s, err
}
