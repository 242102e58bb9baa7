package instrument

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
)

// duration is a text like 1.5s: slog's JSON handler writes a time.Duration as a number of nanoseconds.
func duration(key string, d time.Duration) slog.Attr {
	unit := time.Millisecond
	if d.Abs() < time.Second {
		unit = time.Microsecond
	}
	return slog.String(key, d.Round(unit).String())
}

// quorumAttrs account for every node: granted, refused, failed, unheard and not_asked add up to nodes.
func quorumAttrs(e *lock.QuorumError) []slog.Attr {
	return []slog.Attr{
		slog.Int("granted", e.Granted), slog.Int("refused", e.Refused),
		slog.Int("failed", e.Count(lock.VerdictFailed)), slog.Int("unheard", e.Count(lock.VerdictUnheard)),
		slog.Int("not_asked", e.Count(lock.VerdictNotAsked)),
		slog.Int("needed", e.Quorum), slog.Int("nodes", e.Nodes), nodeReasons(e.Errors, e.Votes),
	}
}

// heldAttrs are quorumAttrs of a vote that a holder has.
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

// nodeReasons says of every node that did not grant why it did not take part.
func nodeReasons(errs []*lock.NodeError, votes []lock.NodeVote) slog.Attr {
	attrs := make([]any, 0, max(len(errs), len(votes)))
	for _, e := range errs {
		attrs = append(attrs, slog.String(e.Node, describe(e.Err)))
	}
	for _, v := range votes {
		if v.Verdict != lock.VerdictGranted && v.Verdict != lock.VerdictFailed {
			attrs = append(attrs, slog.String(v.Node, string(v.Verdict)))
		}
	}
	return slog.Group("reasons", attrs...)
}

// describe shows the text of errors that are known not to quote a command.
func describe(err error) string {
	if code := statusCode(err); code != "" {
		return "redis replied " + code
	}
	network, isNetwork := errors.AsType[*net.OpError](err)
	if text := driver.Describe(err); text != "" && (!isNetwork || text != driver.ErrNotSent.Error()) {
		return text
	}
	if isNetwork { // also where nothing was sent for that
		return network.Error()
	}
	return fmt.Sprintf("%s (%T)", failureOf(err), err)
}
