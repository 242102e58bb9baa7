package ui

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// ProgressEvery is the shortest time between two lines of a ProgressLog, and before the first one.
const ProgressEvery = 10 * time.Second

// ProgressLog writes a line about a long sweep from time to time. It is for a loop of sweeps, which it tells apart by
// their nodes: when all are done, the next progress is of another sweep. It is safe for concurrent use.
type ProgressLog struct {
	logger *slog.Logger
	now    func() time.Time

	mu      sync.Mutex
	sweep   *Progress // nil: none runs
	written time.Time
}

// NewProgressLog writes to the logger at level info.
func NewProgressLog(logger *slog.Logger) *ProgressLog {
	return &ProgressLog{logger: logger, now: time.Now}
}

// Report is for scanner.WithProgress.
func (l *ProgressLog) Report(p report.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.sweep == nil || l.sweep.nodes[p.Node].Done {
		l.sweep, l.written = JoinProgress(now), now
	}
	l.sweep.Take(p)
	e := l.sweep.Estimate(now)
	if e.Over() {
		l.sweep = nil
		return
	}
	if now.Sub(l.written) < ProgressEvery {
		return
	}
	l.written = now
	left := "unknown"
	if e.Left > 0 {
		left = e.Left.String()
	}
	l.logger.Info("sweep in progress", "read", fmt.Sprintf("%.0f %%", 100*e.Share), "keys", e.Keys, "locks", e.Locks,
		"nodes_done", fmt.Sprintf("%d of %d", e.Done, e.Nodes), "took", e.Took.Round(time.Second).String(), "left", left)
}
