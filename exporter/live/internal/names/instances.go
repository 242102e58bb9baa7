package names

import (
	"maps"
	"sync/atomic"
)

// Instances are the names that lockers have.
type Instances struct {
	all atomic.Pointer[map[string]bool] // replaced, never changed
}

// Add makes an instance one of them.
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

// Has reports that a locker has that name.
func (s *Instances) Has(instance string) bool {
	names := s.all.Load()
	return names != nil && (*names)[instance]
}
