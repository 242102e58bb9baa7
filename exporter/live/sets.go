package live

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock"
)

// maxSets bounds how many key spaces of equal name a Board tells apart.
const maxSets = 256

// sets has a unique name for each set of keys whose engines have been seen. Engines with several names for one set
// share the first, and a set with the name of another gets a number.
type sets struct {
	byKeyspace atomic.Pointer[map[string]string] // of a [locktrace.Backend]; replaced, never changed

	mu sync.Mutex
}

// name returns the Board's name for a set of keys, given the engine's name for it.
func (s *sets) name(called, keyspace string) string {
	if keyspace == "" {
		return called
	}
	if known := s.byKeyspace.Load(); known != nil {
		if name, ok := (*known)[keyspace]; ok {
			return name
		}
	}
	return s.add(called, keyspace)
}

func (s *sets) add(called, keyspace string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	more := make(map[string]string)
	if known := s.byKeyspace.Load(); known != nil {
		maps.Copy(more, *known)
	}
	if name, ok := more[keyspace]; ok {
		return name
	}
	if len(more) >= maxSets {
		return called
	}
	name, taken := strings.Clone(called), slices.Collect(maps.Values(more))
	for n := 2; slices.Contains(taken, name); n++ {
		name = called + " (" + strconv.Itoa(n) + ")"
	}
	more[strings.Clone(keyspace)] = name
	s.byKeyspace.Store(&more)
	return name
}

// held returns leases with the Board's names for their sets of nodes.
func (s *sets) held(all []lock.HeldLease) []lock.HeldLease {
	named := slices.Clone(all)
	for i := range named {
		named[i].Backend = s.name(named[i].Backend, named[i].Keyspace)
	}
	return named
}
