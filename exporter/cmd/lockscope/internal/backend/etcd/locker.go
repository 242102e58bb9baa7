package etcd

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/etcdlock"
)

// Locker implements inspect.Inspector.
func (b *Backend) Locker(ctx context.Context, opts ...lock.Option) (*engine.Engine, error) {
	if err := b.connect(ctx); err != nil {
		return nil, err
	}
	return etcdlock.New(b.client, append(opts[:len(opts):len(opts)], lock.WithPrefix(b.prefix),
		etcdlock.WithFenceKey(b.fenceKey))...)
}
