package claims

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// Holder is a claim that holds a lock. Its grant is the transaction that created the claim, and its time left is a hint, by
// the clocks of the ensemble and of this process.
type Holder = claimlist.Holder[stamped]

// stamped is a node as it was read.
type stamped struct {
	path string
	data []byte
	stat *zk.Stat
}

// Holders reads and marks the claims that hold locks.
type Holders struct {
	store *store.Store
	zk    *store.Client
	tree  tree
}

// Holder returns the first claim to a lock, and reads again if that ends meanwhile. It returns nil if there is none.
func (p *Holders) Holder(_ context.Context, key string) (*Holder, error) {
	dir := p.tree.dir(key)
	if err := p.zk.Sync(p.tree.root); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err // without a sync this server may lag behind
	}
	for range tries {
		names, err := p.tree.queue(dir)
		if err != nil || len(names) == 0 {
			return nil, err
		}
		if h, err := p.describe(dir + "/" + names[0]); err != nil || h != nil {
			return h, err
		}
	}
	return nil, nil // it changes hands faster than it can be read
}

// Readers returns the readers that hold a lock together. Call it after Holder, which syncs.
func (p *Holders) Readers(_ context.Context, key string) (readers []*Holder, err error) {
	dir := p.tree.dir(key)
	names, err := p.tree.queue(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names[:claimlist.Holders(names, isReader)] {
		if !isReader(name) {
			break
		}
		h, err := p.describe(dir + "/" + name)
		if err != nil {
			return nil, err
		}
		if h != nil {
			readers = append(readers, h)
		}
	}
	return readers, nil
}

// describe returns nil if the claim has ended.
func (p *Holders) describe(path string) (*Holder, error) {
	data, stat, err := p.zk.Get(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	h := &Holder{Reads: isReader(path), Left: -1, Longest: -1, Claim: stamped{path, data, stat}}
	r := parse(data, stat.Mtime)
	if r.holder == "" {
		return h, nil
	}
	h.Record, h.Left, h.Longest, h.Grant = r.holder, r.left(), r.longest(), strconv.FormatInt(stat.Czxid, 10)
	text, _, err := p.zk.Get(p.tree.base())
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err
	}
	if base := parseBase(text); base > 0 {
		h.Fence = base + uint64(stat.Czxid)
	}
	return h, nil
}

// Mark revokes the lock of a claim: it writes the record of who did so, unless the claim has a mark. It returns the mark
// that stands; marked is false if the claim is gone. A claim that is renewed at this moment is read again.
//
// The mark stands in the data of the claim, whose next renewal expects other data, and ends with the claim.
func (p *Holders) Mark(ctx context.Context, h *Holder, record string, _ time.Duration,
) (stands string, marked bool, err error) {
	for range tries {
		n := h.Claim
		if mark := parse(n.data, n.stat.Mtime).mark; mark != "" {
			return mark, true, nil
		}
		data := withMark(n.data, n.stat.Mtime, record)
		_, err = p.store.Repeat(ctx, func() error { _, err := p.zk.Set(n.path, data, n.stat.Version); return err })
		if err == nil {
			return record, true, nil
		}
		if !changed(err) {
			return "", false, err
		}
		again, err := p.describe(n.path)
		if err != nil || again == nil {
			return "", false, err
		}
		*h = *again
	}
	return "", false, errChanging(h.Claim.path)
}
