package scanner

import (
	"maps"
	"slices"

	"github.com/lockscope/lockscope/scanner/internal/digest"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// memory is what one sweep leaves to the next. It is of whose turn it is.
type memory struct {
	digest  digest.Digest
	masters map[*node.Source]map[string]*remembered // by the name of the node
	watches map[*node.Source]*watch
}

// remembered is what is remembered of one master.
type remembered struct {
	capability keyreader.Capability
	pass       pass
	watch      *watch // the source's
}

func newMemory() *memory {
	return &memory{
		digest: digest.New(), masters: make(map[*node.Source]map[string]*remembered), watches: make(map[*node.Source]*watch),
	}
}

// recall finds or makes what is remembered of a master.
func (m *memory) recall(c *node.Connection, cfg *config) *remembered {
	of := m.masters[c.Source]
	if of == nil {
		of = make(map[string]*remembered)
		m.masters[c.Source] = of
	}
	if of[c.Node] == nil {
		of[c.Node] = &remembered{capability: cfg.scope.Capability, watch: m.watch(c.Source, cfg)}
	}
	return of[c.Node]
}

// watch finds or makes that of a source.
func (m *memory) watch(s *node.Source, cfg *config) *watch {
	if m.watches[s] == nil {
		m.watches[s] = newWatch(cfg.maxWatched, m.digest)
	}
	return m.watches[s]
}

// keep forgets the masters of a source but those there are now.
func (m *memory) keep(s *node.Source, now []node.Connection) {
	if w := m.watches[s]; w != nil {
		names := make([]string, len(now))
		for i, c := range now {
			names[i] = c.Node
		}
		w.keep(names)
	}
	maps.DeleteFunc(m.masters[s], func(name string, _ *remembered) bool {
		return !slices.ContainsFunc(now, func(c node.Connection) bool { return c.Node == name })
	})
}

// nodes are the names of the masters a source had when it last answered, or its own.
func (m *memory) nodes(s *node.Source) []string {
	if len(m.masters[s]) == 0 {
		return []string{s.Name}
	}
	return slices.Sorted(maps.Keys(m.masters[s]))
}
