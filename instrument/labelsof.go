package instrument

import (
	"time"

	"github.com/lockscope/lockscope/instrument/internal/label"
	"github.com/lockscope/lockscope/lock"
)

// seriesOf finds the series of a resource, for a call that begins now.
func (l *Locker) seriesOf(resource string, now time.Time) *series {
	if lock.ValidateResource(resource) != nil {
		return l.metrics.useInvalid(now)
	}
	if s := l.metrics.useReserved(resource, now); s != nil {
		return s
	}
	var space [label.MaxLength]byte
	if l.label != nil {
		if own := l.customLabel(resource); own != "" {
			return l.metrics.useLabel(append(space[:0], own[:min(len(own), label.MaxLength)]...), now)
		}
	}
	return l.metrics.useLabel(label.Fold(space[:0], resource), now)
}

// customLabel is "" if the user's function panics.
func (l *Locker) customLabel(resource string) (label string) {
	defer l.contain()
	return l.label(resource)
}
