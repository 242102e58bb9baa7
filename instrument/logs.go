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
// acquisitions_total, long_waits_total, release_failures_total and node_restarts_total.

func (l *Locker) logLost(m *lease, why loss) {
	if l.log != nil {
		l.log.add(&m.call, slog.LevelError, "lease lost",
			slog.String("resource", m.call.resource), slog.String("reason", why.String()),
			slog.Uint64("fence", m.Fence()), slog.Duration("held", m.held()))
	}
}

func (l *Locker) logRelease(ctx context.Context, m *lease, err error) {
	if l.log == nil {
		return
	}
	msg := "release could not be confirmed"
	if errors.Is(err, lock.ErrNotHeld) {
		msg = "released a lease that was already gone"
	}
	attrs := []slog.Attr{
		slog.String("resource", m.call.resource), slog.String("outcome", string(releaseOutcome(err))),
		slog.String("reason", string(lock.ReasonOf(err))), slog.Uint64("fence", m.Fence()),
		slog.Duration("held", m.held()),
	}
	if failure, ok := errors.AsType[*lock.ReleaseError](err); ok && len(failure.Errors) > 0 {
		attrs = append(attrs, nodeReasons(failure.Errors))
	}
	l.log.add(ctx, slog.LevelWarn, msg, attrs...)
}

func (l *Locker) logRenewal(ctx context.Context, c *call, e lock.RenewEnd) {
	if l.log == nil {
		return
	}
	attrs := []slog.Attr{
		slog.String("resource", c.resource), slog.Uint64("fence", e.Fence), slog.Duration("validity", e.Left),
		slog.Int("granted", e.Granted), slog.Int("refused", e.Refused), slog.Int("failed", e.Failed),
	}
	if quorum, ok := errors.AsType[*lock.QuorumError](e.Err); ok {
		attrs = append(attrs, slog.Int("needed", quorum.Quorum), nodeReasons(quorum.Errors))
	}
	l.log.add(ctx, slog.LevelWarn, "renewal failed, lease still valid", attrs...)
}

func (l *Locker) logNoQuorum(c *call, e *lock.QuorumError) {
	if l.log == nil {
		return
	}
	l.log.add(c, slog.LevelWarn, "no quorum",
		slog.String("resource", c.resource), slog.String("operation", string(e.Op)),
		slog.Int("granted", e.Granted), slog.Int("refused", e.Refused),
		slog.Int("needed", e.Quorum), slog.Int("nodes", e.Nodes), nodeReasons(e.Errors))
}

// logRestart warns of a restart that was witnessed. A node that was young when it was
// met is every node of a new deployment.
func (l *Locker) logRestart(ctx context.Context, e lock.NodeRestart) {
	if l.log == nil {
		return
	}
	level, msg := slog.LevelInfo, "node started a short while ago"
	if e.Witnessed {
		level, msg = slog.LevelWarn, "node restarted"
	}
	switch {
	case e.Enforced:
		msg += ": it does not vote while locks it may have forgotten can be held"
	case e.Left > 0:
		msg += " and votes at once: locks it forgot may still be held"
	default:
		msg += " and votes: no lock from before can be held"
	}
	l.log.add(ctx, level, msg, slog.String("node", e.Node), slog.Duration("left", e.Left), slog.Bool("enforced", e.Enforced))
}

func (l *Locker) logLongWait(c *call) {
	if l.log == nil {
		return
	}
	attrs := []slog.Attr{slog.String("resource", c.resource), slog.Duration("waited", time.Since(c.began))}
	if b := c.blocker.Load(); b != nil && b.Holder.Instance != "" {
		attrs = append(attrs, slog.String("blocker", b.Holder.Instance), slog.Time("blocker_since", b.Holder.Since))
		if sc := parseTraceparent(b.Holder.Traceparent); sc.IsValid() {
			attrs = append(attrs, slog.String("blocker_trace_id", sc.TraceID().String()))
		}
	}
	l.log.add(c, slog.LevelWarn, "still waiting for the lock", attrs...)
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
