package lease

import (
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// loss is the cause of the end of a lease that was lost. It does not wrap the error of the renewal, whose nodes may have
// failed with context.DeadlineExceeded: no context of the caller has ended.
type loss struct {
	resource string
	at       time.Time
	renewal  error
}

// loss is that of now, or of the end of validity if that is over. The caller holds mu.
func (l *Lease) loss() error {
	left := l.expires - l.set.Config.Clock()
	return &loss{resource: l.resource, at: time.Now().Add(min(0, left)), renewal: l.unrenewed}
}

func (e *loss) Error() string {
	text := fmt.Sprintf("%v: %q was lost at %s, and others may hold it now", lock.ErrLost, e.resource,
		e.at.UTC().Format(time.RFC3339))
	if e.renewal != nil {
		text += "; last renewal: " + strings.TrimPrefix(e.renewal.Error(), lock.ErrLost.Error()+": ")
	}
	return text
}

// Unwrap returns lock.ErrLost.
func (e *loss) Unwrap() error { return lock.ErrLost }
