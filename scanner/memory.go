package scanner

import (
	"maps"
	"slices"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// memory is what one sweep leaves to the next. It is of whose turn it is.
type memory struct {
	masters map[*source]map[string]*remembered // by the name of the node
}

// remembered is what is remembered of one master.
type remembered struct {
	capability keyreader.Capability
	pass       pass
	watch      *watch
}

func newMemory() *memory { return &memory{masters: make(map[*source]map[string]*remembered)} }

// recall finds or makes what is remembered of a master.
func (m *memory) recall(c *connection, cfg *config) *remembered {
	of := m.masters[c.source]
	if of == nil {
		of = make(map[string]*remembered)
		m.masters[c.source] = of
	}
	if of[c.node] == nil {
		of[c.node] = &remembered{capability: cfg.capability, watch: newWatch(cfg.maxWatched)}
	}
	return of[c.node]
}

// keep forgets the masters of a source but those there are now.
func (m *memory) keep(s *source, now []connection) {
	maps.DeleteFunc(m.masters[s], func(node string, _ *remembered) bool {
		return !slices.ContainsFunc(now, func(c connection) bool { return c.node == node })
	})
}

// nodes are the names of the masters a source had when it last answered, or its own.
func (m *memory) nodes(s *source) []string {
	if len(m.masters[s]) == 0 {
		return []string{s.name}
	}
	return slices.Sorted(maps.Keys(m.masters[s]))
}
