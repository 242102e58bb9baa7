package scanner

import (
	"context"
	"slices"
	"sync"
)

// candidate is a key of a page, and what the sources that answered have there.
type candidate struct {
	own   value // as the page has it
	looks []value
}

// lookAround asks the sources about the keys, all at once.
func (p *listPass) lookAround(ctx context.Context, found []*candidate) {
	if len(found) == 0 {
		return
	}
	replies := make([][]value, len(p.sources))
	var wg sync.WaitGroup
	for i := range p.sources {
		if i != p.index || p.readFromReplica() {
			wg.Go(func() { replies[i] = p.lookAtSource(ctx, i, found) })
		}
	}
	wg.Wait()
	for i, c := range found {
		if !p.readFromReplica() {
			c.looks = append(c.looks, c.own)
		}
		for _, looks := range replies {
			if looks != nil {
				c.looks = append(c.looks, looks[i])
			}
		}
	}
}

func (p *listPass) readFromReplica() bool { return p.sources[p.index].source.replica != nil }

// lookAtSource returns what a source has under the keys, nil if it does not answer.
// Of a cluster each master is asked about all keys: those of other masters' slots
// it says that it does not have.
func (p *listPass) lookAtSource(ctx context.Context, at int, found []*candidate) []value {
	src := p.sources[at]
	if src.silent.Load() || len(p.peers[at]) == 0 || ctx.Err() != nil {
		return nil
	}
	keys := make([]string, len(found))
	for i, c := range found {
		keys[i] = c.own.key
	}
	all := make([]value, 0, len(keys))
	for node, t := range p.peers[at] {
		looks, err := p.look(ctx, t, keys)
		if err != nil {
			src.fail(ctx, node, "look at locks", err)
			return nil
		}
		if len(all) == 0 {
			all = slices.Clone(looks)
			continue
		}
		for i := range all {
			if all[i].kind == kindNone {
				all[i] = looks[i]
			}
		}
	}
	return all
}
