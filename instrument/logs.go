package instrument

import (
	"context"
	"errors"
	"log/slog"

	"github.com/lockscope/lockscope/lock"
)

// Every record has a counter beside it: lost_total, extensions_total,
// acquisitions_total, long_waits_total, release_failures_total, node_restarts_total and
// deadlocks_total.

func (l *Locker) logLost(m *lease, why loss) {
	c := &m.call
	c.mu.Lock() // no round of renewal is told of from here on
	defer c.mu.Unlock()
	c.lost = true
	if p, ok := l.log.admit("lease lost", why.String(), c.series.label); ok {
		l.log.add(c, p, slog.LevelError, append(c.logAttributes(),
			slog.String("resource", c.resource), slog.String("reason", why.String()),
			slog.Uint64("fence", m.Fence()), duration("held", m.held()))...)
	}
}

func (l *Locker) logRelease(ctx context.Context, m *lease, err error) {
	msg, reason := "release could not be confirmed", string(lock.ReasonOf(err))
	if errors.Is(err, lock.ErrNotHeld) {
		msg = "released a lease that was already gone"
	}
	p, ok := l.log.admit(msg, reason, m.call.series.label)
	if !ok {
		return
	}
	attrs := append(m.call.logAttributes(),
		slog.String("resource", m.call.resource), slog.String("outcome", string(releaseOutcome(err))),
		slog.String("reason", reason), slog.Uint64("fence", m.Fence()),
		duration("held", m.held()),
	)
	if failure, ok := errors.AsType[*lock.ReleaseError](err); ok && len(failure.Errors) > 0 {
		attrs = append(attrs, nodeReasons(failure.Errors, failure.Votes))
	}
	l.log.add(ctx, p, slog.LevelWarn, attrs...)
}

// logRenewal says nothing of a lease that is over, or about to be: that is told as its loss.
func (l *Locker) logRenewal(ctx context.Context, c *call, e lock.RenewEnd) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost || e.Left <= 0 {
		return
	}
	p, ok := l.log.admit("renewal failed, lease still valid", string(lock.ReasonOf(e.Err)), c.series.label)
	if !ok {
		return
	}
	attrs := append(c.logAttributes(),
		slog.String("resource", c.resource), slog.Uint64("fence", e.Fence), duration("validity", e.Left),
	)
	if quorum, ok := errors.AsType[*lock.QuorumError](e.Err); ok {
		attrs = append(attrs, quorumAttrs(quorum)...)
	} else {
		attrs = append(attrs, slog.Int("granted", e.Granted), slog.Int("refused", e.Refused), slog.Int("failed", e.Failed))
	}
	l.log.add(ctx, p, slog.LevelWarn, attrs...)
}

func (l *Locker) logNoQuorum(c *call, e *lock.QuorumError) {
	p, ok := l.log.admit("no quorum", string(e.Op), c.series.label)
	if !ok {
		return
	}
	attrs := append(c.logAttributes(), slog.String("resource", c.resource), slog.String("operation", string(e.Op)))
	l.log.add(c, p, slog.LevelWarn, append(attrs, quorumAttrs(e)...)...)
}

// logRestart warns of a restart that was witnessed. A node that was young when it was
// met is every node of a new deployment.
func (l *Locker) logRestart(ctx context.Context, e lock.NodeRestart) {
	level, msg := slog.LevelInfo, "node started a short while ago"
	if e.Witnessed {
		level, msg = slog.LevelWarn, "node restarted"
	}
	if e.Evicted {
		level, msg = slog.LevelWarn, "node evicted keys"
	}
	switch {
	case e.Enforced:
		msg += ": it does not vote while locks it may have forgotten can be held"
	case e.Left > 0:
		msg += " and votes at once: locks it forgot may still be held"
	default:
		msg += " and votes: no lock from before can be held"
	}
	if p, ok := l.log.admit(msg, e.Backend.Name, e.Node); ok {
		l.log.add(ctx, p, level, slog.String("node", e.Node), duration("left", e.Left), slog.Bool("enforced", e.Enforced))
	}
}

func (l *Locker) logDeadlock(c *call, e lock.Deadlock) {
	if p, ok := l.log.admit("deadlock", "", c.series.label); ok {
		l.log.add(c, p, slog.LevelError, append(c.logAttributes(), slog.String("resource", c.resource), slog.String("cycle", e.String()))...)
	}
}
