package postgres

import (
	"context"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/pglock"
)

// Locker implements inspect.Inspector. Its keys begin with the longest prefix of the configuration.
func (b *Backend) Locker(_ context.Context, opts ...lock.Option) (*engine.Engine, error) {
	return pglock.New(b.pool, append(opts[:len(opts):len(opts)], pglock.WithSchema(b.schema),
		lock.WithPrefix(b.prefixes[0]))...)
}
