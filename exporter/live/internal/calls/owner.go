package calls

import (
	"maps"
	"sync/atomic"

	"github.com/lockscope/lockscope/exporter/live/internal/profile"
	"github.com/lockscope/lockscope/exporter/live/internal/timeline"
	"github.com/lockscope/lockscope/exporter/live/internal/waits"
	"github.com/lockscope/lockscope/lock/decorate"
)

// Records count ended calls and name the lockers.
type Records struct {
	Waits     *waits.Waits
	Slowest   *timeline.Slowest
	Profile   *profile.Recorder
	Timeline  *timeline.Recorder
	Instances Instances
}

// Owner is the locker of calls and leases.
type Owner struct {
	Instance string
	Layer    *decorate.Layer
	Records  *Records
}

// Instances are the names of the lockers.
type Instances struct {
	all atomic.Pointer[map[string]bool] // replaced, never changed
}

// Add adds an instance.
func (s *Instances) Add(instance string) {
	for {
		old := s.all.Load()
		names := map[string]bool{instance: true}
		if old != nil {
			maps.Copy(names, *old)
		}
		if s.all.CompareAndSwap(old, &names) {
			return
		}
	}
}

// Has reports whether a locker has that name.
func (s *Instances) Has(instance string) bool {
	names := s.all.Load()
	return names != nil && (*names)[instance]
}
