package names

import (
	"maps"
	"sync/atomic"
)

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
