// Package logs writes the log records of package instrument in the background, and limits repetition.
//
// Every record has a counter beside it: lost_total, extensions_total, acquisitions_total, long_waits_total,
// release_failures_total, node_restarts_total and deadlocks_total.
package logs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktrace"
)

// Log is the log of one decorator. A nil Log does nothing. It is safe for concurrent use.
type Log struct {
	limit limit
	queue queue
}

// New returns nil for a nil logger. It logs one record of a kind per interval every; zero or less logs all.
func New(l *slog.Logger, every time.Duration, p spans.Panics) *Log {
	if l == nil {
		return nil
	}
	return &Log{
		limit: limit{every: every, kinds: make(map[kind]*lastTold)},
		queue: queue{handler: l.Handler(), panics: p},
	}
}

// Flush waits until no record is left, or ctx ends.
func (l *Log) Flush(ctx context.Context) error {
	if l == nil {
		return nil
	}
	return l.queue.flush(ctx)
}

func (l *Log) admit(msg, reason, about string) (p pass, ok bool) {
	if l == nil {
		return p, false
	}
	return l.limit.admit(kind{msg, reason, about}, time.Now())
}

// Subject is the call, or its lease, that a record is about.
type Subject struct {
	Context         context.Context
	Resource, Label string
	Kind            lock.Kind // empty for a lock by itself
}

// attrs begin every record about the subject: those of the call, the resource and the kind.
func (s Subject) attrs() []slog.Attr {
	attrs := append(ownAttrs(s.Context), slog.String("resource", s.Resource))
	if s.Kind != "" && s.Kind.Valid() {
		attrs = append(attrs, slog.String("kind", string(s.Kind)))
	}
	return attrs
}

// Lease suppresses records about a lease after its loss. Its zero value is a lease that is not lost.
type Lease struct {
	mu   sync.Mutex
	lost bool
}

// Fencer is a lease with a fencing token.
type Fencer interface{ Fence() uint64 }

// Lost logs the loss of a lease.
func (l *Log) Lost(s Subject, of *Lease, lease Fencer, held time.Duration, why outcome.Loss) {
	of.mu.Lock() // no round of renewal is logged from here on
	defer of.mu.Unlock()
	of.lost = true
	if p, ok := l.admit("lease lost", why.String(), s.Label); ok {
		l.queue.add(s.Context, p, slog.LevelError, append(s.attrs(), slog.String("reason", why.String()),
			slog.Uint64("fence", lease.Fence()), duration("held", held))...)
	}
}

// Release logs a failed release. ctx is that of the release.
func (l *Log) Release(ctx context.Context, s Subject, lease Fencer, held time.Duration, err error) {
	msg, reason := "release could not be confirmed", string(lock.ReasonOf(err))
	if errors.Is(err, lock.ErrNotHeld) {
		msg = "released a lease that was already gone"
	}
	p, ok := l.admit(msg, reason, s.Label)
	if !ok {
		return
	}
	attrs := append(s.attrs(), slog.String("outcome", string(outcome.OfRelease(err))),
		slog.String("reason", reason), slog.Uint64("fence", lease.Fence()), duration("held", held),
	)
	if failure, ok := errors.AsType[*lock.ReleaseError](err); ok && len(failure.Errors) > 0 {
		attrs = append(attrs, nodeReasons(failure.Errors, failure.Votes))
	}
	l.queue.add(ctx, p, slog.LevelWarn, attrs...)
}

// Renewal logs a failed round. ctx is that of the round. It logs nothing for a lease that has ended or is about to:
// its loss is logged instead.
func (l *Log) Renewal(ctx context.Context, s Subject, of *Lease, e locktrace.RenewEnd) {
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.lost || e.Left <= 0 {
		return
	}
	p, ok := l.admit("renewal failed, lease still valid", string(lock.ReasonOf(e.Err)), s.Label)
	if !ok {
		return
	}
	attrs := append(s.attrs(), slog.Uint64("fence", e.Fence), duration("validity", e.Left))
	if quorum, ok := errors.AsType[*lock.QuorumError](e.Err); ok {
		attrs = append(attrs, quorumAttrs(quorum)...)
	} else {
		attrs = append(attrs,
			slog.Int("granted", e.Granted), slog.Int("refused", e.Refused), slog.Int("failed", e.Failed))
	}
	l.queue.add(ctx, p, slog.LevelWarn, attrs...)
}

// NoQuorum logs a call that failed without a quorum.
func (l *Log) NoQuorum(s Subject, e *lock.QuorumError) {
	p, ok := l.admit("no quorum", string(e.Op), s.Label)
	if !ok {
		return
	}
	attrs := append(s.attrs(), slog.String("operation", string(e.Op)))
	l.queue.add(s.Context, p, slog.LevelWarn, append(attrs, quorumAttrs(e)...)...)
}

// Unprotected logs work that runs without a lock.
func (l *Log) Unprotected(s Subject, err error) {
	if p, ok := l.admit("runs without a lock", "", s.Label); ok {
		l.queue.add(s.Context, p, slog.LevelWarn, append(s.attrs(), slog.String("error", err.Error()))...)
	}
}

// Restart warns of a restart that was witnessed. A node that had just started at first contact is usual in a new
// deployment.
func (l *Log) Restart(ctx context.Context, e locktrace.NodeRestart) {
	level, msg := slog.LevelInfo, "node started a short while ago"
	if e.Witnessed {
		level, msg = slog.LevelWarn, "node restarted"
	}
	if e.Evicted {
		level, msg = slog.LevelWarn, "node evicted keys"
	}
	switch {
	case e.Enforced:
		msg += ": it does not vote until locks it may have forgotten have expired"
	case e.Left > 0:
		msg += " and votes at once: locks it forgot may still be held"
	default:
		msg += " and votes: no earlier lock can still be held"
	}
	if p, ok := l.admit(msg, e.Backend.Name, e.Node); ok {
		attrs := []slog.Attr{slog.String("node", e.Node), duration("left", e.Left), slog.Bool("enforced", e.Enforced)}
		l.queue.add(ctx, p, level, attrs...)
	}
}

// ClockOff warns of a node whose clock is off.
func (l *Log) ClockOff(ctx context.Context, e locktrace.NodeEnd) {
	msg := "node clock is ahead: check that NTP runs on the node and here"
	if e.ClockSkew < 0 {
		msg = "node clock is behind: check that NTP runs on the node and here"
	}
	if p, ok := l.admit(msg, e.Backend.Name, e.Node); ok {
		l.queue.add(ctx, p, slog.LevelWarn, slog.String("node", e.Node), duration("by", e.ClockSkew.Abs()))
	}
}

// Evicts warns of a node that does not vote because of its eviction policy.
func (l *Log) Evicts(ctx context.Context, e locktrace.NodeEnd) {
	if p, ok := l.admit("node may evict locks and does not vote", e.Backend.Name, e.Node); ok {
		l.queue.add(ctx, p, slog.LevelWarn, slog.String("node", e.Node), slog.String("error", e.Err.Error()))
	}
}

// Deadlock logs a cycle that a call closed.
func (l *Log) Deadlock(s Subject, e lock.DeadlockError) {
	if p, ok := l.admit("deadlock", "", s.Label); ok {
		l.queue.add(s.Context, p, slog.LevelError, append(s.attrs(), slog.String("cycle", e.String()))...)
	}
}
