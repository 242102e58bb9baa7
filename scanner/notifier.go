package scanner

import (
	"context"
	"fmt"
	"github.com/lockscope/lockscope/scanner/report"
)

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
