package logs

import (
	"context"
	"log/slog"
	"time"

	"github.com/lockscope/lockscope/instrument/internal/outcome"
	"github.com/lockscope/lockscope/instrument/internal/spans"
	"github.com/lockscope/lockscope/lock"
)

// duration is a text like 1.5s, because slog's JSON handler writes a time.Duration as a number of nanoseconds.
func duration(key string, d time.Duration) slog.Attr {
	unit := time.Millisecond
	if d.Abs() < time.Second {
		unit = time.Microsecond
	}
	return slog.String(key, d.Round(unit).String())
}

// ownAttrs are the attributes that the caller has put into its context.
func ownAttrs(ctx context.Context) (attrs []slog.Attr) {
	for _, a := range spans.AttributesOf(ctx) {
		attrs = append(attrs, slog.Any(string(a.Key), a.Value.AsInterface()))
	}
	return attrs
}

// quorumAttrs accounts for every node: granted, refused, failed, unheard and not_asked add up to nodes.
func quorumAttrs(e *lock.QuorumError) []slog.Attr {
	return []slog.Attr{
		slog.Int("granted", e.Granted), slog.Int("refused", e.Refused),
		slog.Int("failed", e.Count(lock.VerdictFailed)), slog.Int("unheard", e.Count(lock.VerdictUnheard)),
		slog.Int("not_asked", e.Count(lock.VerdictNotAsked)),
		slog.Int("needed", e.Quorum), slog.Int("nodes", e.Nodes), nodeReasons(e.Errors, e.Votes),
	}
}

// heldAttrs accounts for the nodes of a vote that a holder won.
func heldAttrs(e *lock.HeldError) []slog.Attr {
	attrs := []slog.Attr{
		slog.Int("granted", e.Granted), slog.Int("refused", e.Refused), slog.Int("failed", len(e.Errors)),
		slog.Int("unheard", max(0, e.Nodes-e.Granted-e.Refused-len(e.Errors))), slog.Int("nodes", e.Nodes),
	}
	if len(e.Errors) > 0 {
		attrs = append(attrs, nodeReasons(e.Errors, nil))
	}
	return attrs
}

// nodeReasons says why each node that did not grant did not take part.
func nodeReasons(errs []*lock.NodeError, votes []lock.NodeVote) slog.Attr {
	attrs := make([]any, 0, max(len(errs), len(votes)))
	for _, e := range errs {
		attrs = append(attrs, slog.String(e.Node, outcome.Describe(e.Err)))
	}
	for _, v := range votes {
		if v.Verdict != lock.VerdictGranted && v.Verdict != lock.VerdictFailed {
			attrs = append(attrs, slog.String(v.Node, string(v.Verdict)))
		}
	}
	return slog.Group("reasons", attrs...)
}

// blockerAttrs describes the holder that the call waits for, by the holder's own clock.
func blockerAttrs(b *lock.HeldError) (attrs []slog.Attr) {
	switch {
	case b.HandedOver:
		attrs = append(attrs, slog.String("blocker", "the next waiter"))
	case b.Holder.Instance == "":
		attrs = append(attrs, slog.String("blocker", "unknown"))
	default:
		attrs = append(attrs, slog.String("blocker", b.Holder.Instance), slog.Time("blocker_since", b.Holder.Since))
	}
	if b.Holder.CallSite != "" {
		attrs = append(attrs, slog.String("blocker_call_site", b.Holder.CallSite))
	}
	if sc := spans.ParseTraceparent(b.Holder.Traceparent); sc.IsValid() {
		attrs = append(attrs, slog.String("blocker_trace_id", sc.TraceID().String()))
	}
	switch {
	case b.Remaining > 0:
		attrs = append(attrs, duration("expires_in", b.Remaining))
	case b.Remaining < 0:
		attrs = append(attrs, slog.String("expires_in", "never"))
	}
	return attrs
}
