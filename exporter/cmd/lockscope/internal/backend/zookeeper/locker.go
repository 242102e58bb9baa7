package zookeeper

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/contrib/zklock"
	"github.com/lockscope/lockscope/lock/engine"
)

// Locker implements inspect.Inspector. It has a session of its own.
func (b *Backend) Locker(_ context.Context, opts ...lock.Option) (*engine.Engine, error) {
	opts = append(opts[:len(opts):len(opts)], zklock.WithRoot(b.root))
	if b.auth != "" {
		opts = append(opts, zklock.WithAuth("digest", []byte(b.auth)))
	}
	return zklock.New(b.servers, opts...)
}
