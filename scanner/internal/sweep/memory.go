package sweep

import (
	"maps"
	"slices"

	"github.com/lockscope/lockscope/scanner/internal/holders"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
)

// Memory passes knowledge from one sweep to the next. It belongs to the running sweep.
type Memory struct {
	digest  holders.Digest
	masters map[*node.Source]map[string]*remembered // by the name of the node
	watches map[*node.Source]*holders.Watch
}

// remembered is the memory of one master.
type remembered struct {
	capability keyreader.Capability
	pass       pass
	watch      *holders.Watch // the source's
}

// NewMemory makes an empty Memory.
func NewMemory() *Memory { return newMemory(holders.NewDigest()) }

func newMemory(d holders.Digest) *Memory {
	return &Memory{
		digest: d, masters: make(map[*node.Source]map[string]*remembered),
		watches: make(map[*node.Source]*holders.Watch),
	}
}

// RestoreMemory makes a Memory with what the watches of an earlier process knew.
func RestoreMemory(
	d holders.Digest, watches map[string]holders.Saved, sources []*node.Source, cfg *Settings,
) (*Memory, error) {
	m := newMemory(d)
	for _, src := range sources {
		if w, ok := watches[src.Name]; ok {
			if err := m.watch(src, cfg).Restore(w); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// Save returns the watches, by source.
func (m *Memory) Save() map[string]holders.Saved {
	all := make(map[string]holders.Saved)
	for src, w := range m.watches {
		all[src.Name] = w.Save()
	}
	return all
}

// Digest returns the digest of keys and values in what is saved.
func (m *Memory) Digest() holders.Digest { return m.digest }

// recall finds or makes the memory of a master.
func (m *Memory) recall(c *node.Connection, cfg *Settings) *remembered {
	of := m.masters[c.Source]
	if of == nil {
		of = make(map[string]*remembered)
		m.masters[c.Source] = of
	}
	if of[c.Node] == nil {
		of[c.Node] = &remembered{capability: cfg.Scope.Capability, watch: m.watch(c.Source, cfg)}
	}
	return of[c.Node]
}

// watch finds or makes the watch of a source.
func (m *Memory) watch(s *node.Source, cfg *Settings) *holders.Watch {
	if m.watches[s] == nil {
		m.watches[s] = holders.NewWatch(cfg.MaxWatched, m.digest)
	}
	return m.watches[s]
}

// keep forgets all masters of a source except the current ones.
func (m *Memory) keep(s *node.Source, now []node.Connection) {
	if w := m.watches[s]; w != nil {
		names := make([]string, len(now))
		for i, c := range now {
			names[i] = c.Node
		}
		w.Keep(names)
	}
	maps.DeleteFunc(m.masters[s], func(name string, _ *remembered) bool {
		return !slices.ContainsFunc(now, func(c node.Connection) bool { return c.Node == name })
	})
}

// nodes returns the names of a source's masters when it last answered, or its own name.
func (m *Memory) nodes(s *node.Source) []string {
	if len(m.masters[s]) == 0 {
		return []string{s.Name}
	}
	return slices.Sorted(maps.Keys(m.masters[s]))
}
