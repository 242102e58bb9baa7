package instrument

import (
	"context"

	"github.com/lockscope/lockscope/instrument/internal/logs"
	"github.com/lockscope/lockscope/lock/outage"
)

// Unprotected counts and logs work that runs without a lock. It is the Report of [outage.Wrap]; the call itself is counted
// as one that failed.
func (l *Locker) Unprotected(ctx context.Context, r outage.Run) {
	label := l.metrics.Unprotected(r.Resource, l.owner)
	l.log.Unprotected(logs.Subject{Context: ctx, Resource: r.Resource, Label: label}, r.Err)
}
