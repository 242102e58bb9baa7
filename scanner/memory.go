package scanner

import (
	"maps"
	"slices"

	"github.com/lockscope/lockscope/scanner/internal/digest"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// memory is what one sweep leaves to the next. It is of whose turn it is.
type memory struct {
	digest  digest.Digest
	masters map[*source]map[string]*remembered // by the name of the node
	watches map[*source]*watch
}

// remembered is what is remembered of one master.
type remembered struct {
	capability keyreader.Capability
	pass       pass
	watch      *watch // the source's
}

func newMemory() *memory {
	return &memory{
		digest: digest.New(), masters: make(map[*source]map[string]*remembered), watches: make(map[*source]*watch),
	}
}

// recall finds or makes what is remembered of a master.
func (m *memory) recall(c *connection, cfg *config) *remembered {
	of := m.masters[c.source]
	if of == nil {
		of = make(map[string]*remembered)
		m.masters[c.source] = of
	}
	if of[c.node] == nil {
		of[c.node] = &remembered{capability: cfg.capability, watch: m.watch(c.source, cfg)}
	}
	return of[c.node]
}

// watch finds or makes that of a source.
func (m *memory) watch(s *source, cfg *config) *watch {
	if m.watches[s] == nil {
		m.watches[s] = newWatch(cfg.maxWatched, m.digest)
	}
	return m.watches[s]
}

// keep forgets the masters of a source but those there are now.
func (m *memory) keep(s *source, now []connection) {
	if w := m.watches[s]; w != nil {
		names := make([]string, len(now))
		for i, c := range now {
			names[i] = c.node
		}
		w.keep(names)
	}
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
