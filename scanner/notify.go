package scanner

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/silence"
	"github.com/lockscope/lockscope/scanner/report"
)

// notifyTimeout bounds one notification.
const notifyTimeout = 10 * time.Second

// maxLogged is how many new or resolved findings of a sweep are logged one by one.
const maxLogged = 20

// audience receives the results of sweeps.
type audience struct {
	logger     *slog.Logger
	onFinding  func(report.Finding)
	onResolved func(report.Finding)
	notifiers  []Notifier
	skipped    []inspect.Gap // as last logged, without the numbers
}

// announce logs a sweep and calls the callbacks. appeared are the findings that this sweep was the first to confirm.
func (a *audience) announce(ctx context.Context, report report.Report, appeared []report.Finding) {
	log := a.logger
	for _, n := range report.Nodes {
		if n.Err != nil {
			log.WarnContext(ctx, "node not swept", slog.String("node", n.Node), slog.Any("error", n.Err))
		}
	}
	a.announceEach(ctx, slog.LevelWarn, "leaked lock", appeared, a.onFinding)
	a.announceEach(ctx, slog.LevelInfo, "leaked lock resolved", report.Resolved, a.onResolved)
	for _, e := range report.Excluded {
		if e.Ended {
			log.WarnContext(ctx, "exclusion has ended: renew or remove it",
				slog.String("pattern", e.Pattern), slog.Time("until", e.Until), slog.String("reason", e.Reason))
		}
	}
	a.logSkipped(ctx, report.Skipped)
	log.DebugContext(ctx, "sweep", slog.String("took", report.Took.Round(time.Millisecond).String()),
		slog.Int("nodes", len(report.Nodes)),
		slog.Int("findings", len(report.Findings)), slog.Int("pending", len(report.Pending)),
		slog.Int("resolved", len(report.Resolved)), slog.Int("overflow", report.Overflow))
}

// announceEach logs the first findings and counts the others.
func (a *audience) announceEach(ctx context.Context, level slog.Level, what string, findings []report.Finding, call func(report.Finding)) {
	for i, f := range findings {
		if i < maxLogged {
			a.logger.Log(ctx, level, what, attrs(&f)...)
		}
		if call != nil {
			call(f)
		}
	}
	if more := len(findings) - maxLogged; more > 0 {
		a.logger.Log(ctx, level, what+": more are not logged", slog.Int("more", more))
	}
}

// announceSilence logs the first locks that became silent or are seen again, and counts the others.
func (a *audience) announceSilence(ctx context.Context, became, ended []silence.Silent) {
	for i, s := range became {
		if i < maxLogged {
			a.logger.WarnContext(ctx, "silent lock: seen regularly before, and not any more",
				slog.String("key", inspect.KeyText(s.Key)), slog.Time("last_seen", s.Last),
				slog.String("usual_pause", s.Usual.Round(time.Second).String()))
		}
	}
	if more := len(became) - maxLogged; more > 0 {
		a.logger.WarnContext(ctx, "silent lock: more are not logged", slog.Int("more", more))
	}
	for i, s := range ended {
		if i < maxLogged {
			a.logger.InfoContext(ctx, "silent lock seen again", slog.String("key", inspect.KeyText(s.Key)))
		}
	}
	if more := len(ended) - maxLogged; more > 0 {
		a.logger.InfoContext(ctx, "silent lock seen again: more are not logged", slog.Int("more", more))
	}
}

// silentLocks is what a report lists of silent locks.
func silentLocks(all []silence.Silent, group string) (listed []report.Silent) {
	for _, s := range all[:min(len(all), report.MaxSilent)] {
		listed = append(listed, report.Silent{Group: group, Key: inspect.KeyText(s.Key), FirstSeen: s.First,
			LastSeen: s.Last, Usual: s.Usual.Seconds()})
	}
	return listed
}

// readWhole reports whether a sweep has seen each lock of each node. A report may be incomplete all the same.
func readWhole(r *report.Report) bool {
	return !slices.ContainsFunc(r.Nodes, func(n report.NodeReport) bool {
		return n.Err != nil || n.Truncated || n.Unread > 0 || n.Path == report.PathShortcut
	})
}

// logSkipped logs what was not looked for, once for the same parts.
func (a *audience) logSkipped(ctx context.Context, skipped []inspect.Gap) {
	parts := slices.Clone(skipped)
	for i := range parts {
		parts[i].Detail = ""
	}
	if slices.Equal(parts, a.skipped) {
		return
	}
	a.skipped = parts
	for _, g := range skipped {
		a.logger.InfoContext(ctx, "not read", slog.String("node", g.Node), slog.String("reason", string(g.Reason)),
			slog.String("detail", g.Detail))
	}
}

func attrs(f *report.Finding) []any {
	attrs := []any{
		slog.String("class", string(f.Class)), slog.String("node", f.Node), slog.String("key", inspect.KeyText(f.Key)),
		slog.String("type", f.Type), slog.String("evidence", f.Evidence), slog.Time("first_seen", f.FirstSeen),
		slog.String("format", string(f.Hold.Format)),
	}
	if f.TTL >= 0 {
		attrs = append(attrs, slog.String("ttl", f.TTL.String()))
	}
	if f.Backend != "" {
		attrs = append(attrs, slog.String("backend", f.Backend))
	}
	if f.Place != "" {
		attrs = append(attrs, slog.String("place", f.Place))
	}
	if f.Policy != "" {
		attrs = append(attrs, slog.String("policy", f.Policy))
	}
	if f.Team != "" {
		attrs = append(attrs, slog.String("team", f.Team))
	}
	if f.Hold.Instance != "" {
		attrs = append(attrs, slog.String("holder", f.Hold.Instance))
	}
	if !f.Hold.Since.IsZero() {
		attrs = append(attrs, slog.Time("held_since", f.Hold.Since))
	}
	return attrs
}

// notify passes the report to every notifier, one after the other.
func (a *audience) notify(ctx context.Context, report report.Report) []error {
	var errs []error
	for _, n := range a.notifiers {
		within, cancel := context.WithTimeout(ctx, notifyTimeout)
		err := n.Notify(within, report)
		cancel()
		if err != nil {
			a.logger.WarnContext(ctx, "notifier failed", slog.Any("error", err))
			errs = append(errs, &NotifyError{Err: err})
		}
	}
	return errs
}

// Notifier sends reports to somebody.
type Notifier interface {
	// Notify is called with every report, one at a time, including reports without findings. It must return by the
	// time ctx ends.
	Notify(ctx context.Context, r report.Report) error
}

// NotifyError reports that a [Notifier] failed to take a report.
type NotifyError struct{ Err error }

func (e *NotifyError) Error() string { return fmt.Sprintf("scanner: notify: %v", e.Err) }

// Unwrap returns the notifier's own error.
func (e *NotifyError) Unwrap() error { return e.Err }
