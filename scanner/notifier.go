package scanner

import (
	"context"
)

// Notifier tells somebody of a report.
type Notifier interface {
	// Notify is called with every report, one at a time, also if nothing was
	// found. It returns by the time ctx ends.
	Notify(ctx context.Context, r Report) error
}
