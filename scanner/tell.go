package scanner

import (
	"context"
	"log/slog"
	"time"
)

// notifyTimeout bounds one notification.
const notifyTimeout = 10 * time.Second

// sightings are what a sweep changed.
type sightings struct{ appeared, resolved []Finding }

// tell logs a sweep and calls the callbacks.
func (s *Scanner) tell(ctx context.Context, report Report, changed sightings) {
	log := s.cfg.logger
	for _, n := range report.Nodes {
		if n.Err != nil {
			log.WarnContext(ctx, "node not swept", slog.String("node", n.Node), slog.Any("error", n.Err))
		}
	}
	for _, f := range changed.appeared {
		log.WarnContext(ctx, "leaked lock", f.attrs()...)
		if s.cfg.onFinding != nil {
			s.cfg.onFinding(f)
		}
	}
	for _, f := range changed.resolved {
		log.InfoContext(ctx, "leaked lock is gone", f.attrs()...)
		if s.cfg.onResolved != nil {
			s.cfg.onResolved(f)
		}
	}
	log.DebugContext(ctx, "sweep", slog.Duration("took", report.Took), slog.Int("nodes", len(report.Nodes)),
		slog.Int("findings", len(report.Findings)), slog.Int("pending", len(report.Pending)),
		slog.Int("resolved", len(report.Resolved)), slog.Int("overflow", report.Overflow))
}

func (f *Finding) attrs() []any {
	attrs := []any{
		slog.String("class", string(f.Class)), slog.String("node", f.Node), slog.String("key", KeyText(f.Key)),
		slog.String("type", f.Type), slog.String("evidence", f.Evidence), slog.Time("first_seen", f.FirstSeen),
		slog.String("format", string(f.Holder.Format)),
	}
	if f.TTL >= 0 {
		attrs = append(attrs, slog.Duration("ttl", f.TTL))
	}
	if f.Holder.Name != "" {
		attrs = append(attrs, slog.String("holder", f.Holder.Name))
	}
	if !f.Holder.Since.IsZero() {
		attrs = append(attrs, slog.Time("held_since", f.Holder.Since))
	}
	return attrs
}

// notify gives the report to every notifier, one after the other.
func (s *Scanner) notify(ctx context.Context, report Report) []error {
	var errs []error
	for _, n := range s.cfg.notifiers {
		within, cancel := context.WithTimeout(ctx, notifyTimeout)
		err := n.Notify(within, report)
		cancel()
		if err != nil {
			s.cfg.logger.WarnContext(ctx, "notifier failed", slog.Any("error", err))
			errs = append(errs, &NotifyError{Err: err})
		}
	}
	return errs
}
