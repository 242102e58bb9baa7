package instrument

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
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
			slog.Uint64("fence", m.Fence()), slog.Duration("held", m.held()))...)
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
		slog.Duration("held", m.held()),
	)
	if failure, ok := errors.AsType[*lock.ReleaseError](err); ok && len(failure.Errors) > 0 {
		attrs = append(attrs, nodeReasons(failure.Errors))
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
		slog.String("resource", c.resource), slog.Uint64("fence", e.Fence), slog.Duration("validity", e.Left),
		slog.Int("granted", e.Granted), slog.Int("refused", e.Refused), slog.Int("failed", e.Failed),
	)
	if quorum, ok := errors.AsType[*lock.QuorumError](e.Err); ok {
		attrs = append(attrs, slog.Int("needed", quorum.Quorum), nodeReasons(quorum.Errors))
	}
	l.log.add(ctx, p, slog.LevelWarn, attrs...)
}

func (l *Locker) logNoQuorum(c *call, e *lock.QuorumError) {
	p, ok := l.log.admit("no quorum", string(e.Op), c.series.label)
	if !ok {
		return
	}
	l.log.add(c, p, slog.LevelWarn, append(c.logAttributes(),
		slog.String("resource", c.resource), slog.String("operation", string(e.Op)),
		slog.Int("granted", e.Granted), slog.Int("refused", e.Refused),
		slog.Int("needed", e.Quorum), slog.Int("nodes", e.Nodes), nodeReasons(e.Errors))...)
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
		l.log.add(ctx, p, level, slog.String("node", e.Node), slog.Duration("left", e.Left), slog.Bool("enforced", e.Enforced))
	}
}

func (l *Locker) logDeadlock(c *call, e lock.Deadlock) {
	if p, ok := l.log.admit("deadlock", "", c.series.label); ok {
		l.log.add(c, p, slog.LevelError, append(c.logAttributes(), slog.String("resource", c.resource), slog.String("cycle", e.String()))...)
	}
}

func (l *Locker) logLongWait(c *call) {
	p, ok := l.log.admit("still waiting for the lock", "", c.series.label)
	if !ok {
		return
	}
	attrs := append(c.logAttributes(), slog.String("resource", c.resource), slog.Duration("waited", time.Since(c.began)))
	if held := lock.Holding(c); len(held) > 0 {
		attrs = append(attrs, slog.Any("holding", resourcesOf(held)))
	}
	if b := c.blocker.Load(); b != nil && b.Holder.Instance != "" {
		attrs = append(attrs, slog.String("blocker", b.Holder.Instance), slog.Time("blocker_since", b.Holder.Since))
		if b.Holder.CallSite != "" {
			attrs = append(attrs, slog.String("blocker_call_site", b.Holder.CallSite))
		}
		if sc := parseTraceparent(b.Holder.Traceparent); sc.IsValid() {
			attrs = append(attrs, slog.String("blocker_trace_id", sc.TraceID().String()))
		}
	}
	l.log.add(c, p, slog.LevelWarn, attrs...)
}

func resourcesOf(held []lock.Held) (names []string) {
	for _, h := range held {
		names = append(names, h.Resource)
	}
	return names
}

// nodeReasons says of every node why it did not take part.
func nodeReasons(errs []*lock.NodeError) slog.Attr {
	attrs := make([]any, 0, len(errs))
	for _, e := range errs {
		attrs = append(attrs, slog.String(e.Node, describe(e.Err)))
	}
	return slog.Group("reasons", attrs...)
}

// describe shows the text of errors that are known not to quote a command.
func describe(err error) string {
	if code := statusCode(err); code != "" {
		return "redis replied " + code
	}
	if text := driver.Describe(err); text != "" {
		return text
	}
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return network.Error()
	}
	return fmt.Sprintf("%s (%T)", failureOf(err), err)
}
