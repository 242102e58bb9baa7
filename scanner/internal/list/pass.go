package list

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
)

// pass goes through one source in one listing.
type pass struct {
	*Lister
	index   int           // of the source; none: negative
	own     *listedSource // nil: none
	timeout time.Duration // of a look at one node; 0: the connection's
	// peers are readers of all masters of all sources for this pass alone: a Reader
	// is not for several goroutines.
	peers [][]*keyreader.Reader
}

// candidate is a key of a page, with what the answering sources have there.
type candidate struct {
	own   keyreader.Value // as the page has it
	looks []keyreader.Value
}

func newPass(l *Lister, index int) *pass {
	p := &pass{Lister: l, index: index, peers: make([][]*keyreader.Reader, len(l.sources))}
	if index >= 0 {
		p.own = l.sources[index]
	}
	for i, src := range l.sources {
		for _, m := range src.masters {
			p.peers[i] = append(p.peers[i], keyreader.New(m.Master, m.Pages, l.query, m.reader.Capability()))
		}
	}
	return p
}

// ReadLocks reads the remaining pages of all sources at once.
func (l *Lister) ReadLocks(ctx context.Context) {
	passes := make([]*pass, len(l.sources))
	for i := range passes {
		passes[i] = newPass(l, i)
	}
	l.eachSource(func(i int, src *listedSource) {
		for at, m := range src.masters {
			if page := m.first; page != nil {
				m.first = nil
				passes[i].read(ctx, at, *page)
			}
		}
	})
}

// read continues from a master's first page to its last, one pattern after the other.
func (p *pass) read(ctx context.Context, at int, page keyreader.Page) {
	reader, pattern := p.own.masters[at].reader, 0
	for {
		p.own.count(at, p.take(ctx, page.Values, pattern))
		if ctx.Err() == nil && page.Next == keyreader.FirstCursor {
			if pattern++; pattern == len(p.globs) {
				return
			}
			reader.Seek(p.globs[pattern], keyreader.NoLimit)
		}
		if !clock.Pause(ctx, p.cfg.Scope.Pause) {
			p.own.fail(ctx, at, "read page", context.Cause(ctx))
			return
		}
		var err error
		if page, err = reader.Page(ctx, page.Next, keyreader.All()); err != nil {
			p.own.fail(ctx, at, "read page", err)
			return
		}
	}
}

// take offers the locks of a page that no pass has listed yet. It returns how many keys of the page were asked for
// and belong to no earlier pattern.
func (p *pass) take(ctx context.Context, page []keyreader.Value, pattern int) (wanted int64) {
	var found []*candidate
	for _, v := range page {
		if v.Gone() || keyreader.IsHelper(v.Key) || !p.options.Wants(p.resource(v.Key)) ||
			p.seenBefore(v.Key, pattern) {
			continue
		}
		wanted++
		if p.known.add(v.Key) {
			found = append(found, &candidate{own: v})
		}
	}
	asked := p.cfg.Now()
	p.lookAround(ctx, found)
	for _, c := range found {
		if lock, ok := newLock(c.looks, len(p.sources)-len(c.looks)); ok {
			lock.Resource, lock.At = p.resource(c.own.Key), asked
			p.top.offer(lock)
		}
	}
	return wanted
}

// lookAround asks all sources about the keys at once.
func (p *pass) lookAround(ctx context.Context, found []*candidate) {
	if len(found) == 0 {
		return
	}
	replies := make([][]keyreader.Value, len(p.sources))
	crowds := crowdsOf(found)
	var inside []keyreader.Value
	var wg sync.WaitGroup
	for i := range p.sources {
		if i == p.index && p.hasPage() {
			wg.Go(func() { inside = p.lookAtSource(ctx, i, crowds) })
		} else {
			wg.Go(func() { replies[i] = p.lookAtSource(ctx, i, found) })
		}
	}
	wg.Wait()
	for i, look := range inside { // the others have read the candidates until now
		crowds[i].own = look
	}
	for i, c := range found {
		if p.hasPage() {
			c.looks = append(c.looks, c.own)
		}
		for _, looks := range replies {
			if looks != nil {
				c.looks = append(c.looks, looks[i])
			}
		}
	}
}

// crowdsOf are the hashes whose fields are more than a page has: many readers, perhaps.
func crowdsOf(found []*candidate) []*candidate {
	return slices.DeleteFunc(slices.Clone(found), func(c *candidate) bool {
		return c.own.Type != keyreader.Hash || c.own.Fields != nil
	})
}

// hasPage reports whether a page of the master has its values. A replica may lack what its master has granted.
func (p *pass) hasPage() bool { return p.own != nil && p.own.source.Replica == nil }

// lookAtSource returns what a source has under the keys, or nil if it does not answer. Each master of a cluster is
// asked about all keys, and reports those of other masters' slots as missing.
func (p *pass) lookAtSource(ctx context.Context, at int, found []*candidate) []keyreader.Value {
	src := p.sources[at]
	if len(found) == 0 || src.silent.Load() || len(p.peers[at]) == 0 || ctx.Err() != nil {
		return nil
	}
	keys := make([]string, len(found))
	for i, c := range found {
		keys[i] = c.own.Key
	}
	all := make([]keyreader.Value, 0, len(keys))
	for node, reader := range p.peers[at] {
		within, cancel := stepOf(ctx, p.timeout)
		looks, err := reader.LookAtReaders(within, keys)
		if cancel(); err != nil {
			src.fail(ctx, node, "look at locks", err)
			return nil
		}
		if len(all) == 0 {
			all = slices.Clone(looks)
			continue
		}
		for i := range all {
			if all[i].Gone() {
				all[i] = looks[i]
			}
		}
	}
	return all
}
