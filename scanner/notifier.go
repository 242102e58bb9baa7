package scanner

import (
	"context"
)

// Notifier sends reports to somebody.
type Notifier interface {
	// Notify is called with every report, one at a time, including reports without findings. It must return by the
	// time ctx ends.
	Notify(ctx context.Context, r Report) error
}
