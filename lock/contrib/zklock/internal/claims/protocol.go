package claims

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// Protocol makes, renews and ends the claims of this process, and reads those of others.
type Protocol struct {
	store   *store.Store
	zk      *store.Client
	tree    tree
	fences  fences
	numbers numbers
	watches watches
	crowd   crowd
}

// New returns the protocol for locks below a root. notify is called with the key of a lock when the claim in front of the
// one that waits for it has ended.
func New(s *store.Store, root string, acl []zk.ACL, notify func(key string)) *Protocol {
	t := tree{zk: s.Client, root: root, acl: acl}
	return &Protocol{
		store: s, zk: s.Client, tree: t, fences: fences{tree: t},
		numbers: numbers{tree: t, known: make(map[string]number)},
		watches: watches{zk: s.Client, background: s.Background, notify: notify},
	}
}

// Holders returns who reads and marks the claims that hold locks.
func (p *Protocol) Holders() *Holders { return &Holders{store: p.store, zk: p.zk, tree: p.tree} }

// NewClaim returns a claim for Enter. Nothing of it exists yet. expired is called when the lock's TTL passes without
// renewal.
func (p *Protocol) NewClaim(w claimlist.Want, expired func()) *Claim {
	return &Claim{dir: p.tree.dir(w.Key), guid: guidOf(w.Token), want: w, expired: expired}
}

// Resize sets the number of slots of a semaphore to to, if from, to or none is known, unless to is 0. It returns what was
// known before.
func (p *Protocol) Resize(semaphore string, from, to int) (known int, err error) {
	return p.numbers.resize(semaphore, from, to)
}

// Release gives a claim back. found reports that it was there, and taken that another claim may hold the lock instead. If
// a call that creates it is still under way, that call removes it. A claim that is not given back is deleted in the
// background: the caller may stop asking before an outage ends, and the session lives on.
func (p *Protocol) Release(ctx context.Context, c *Claim) (found, taken bool, err error) {
	path := c.bury()
	if path == "" {
		return false, false, nil
	}
	type result struct{ found, taken bool }
	r, err := store.Within(ctx, p.store, p.store.Session.Await, func() (r result, err error) {
		r.found, err = p.giveBack(ctx, path)
		if err == nil && !r.found {
			names, _ := p.tree.queue(c.dir)
			r.taken = len(claimlist.Rivals(names, c.wanted().Reads, isReader)) > 0
		}
		return r, err
	}, nil)
	if err != nil {
		c.leftover.Do(func() { p.store.Background.Run(func() { p.removeLeftover(c, path) }) })
	}
	return r.found, r.taken, err
}

// removeLeftover keeps the token of a claim that it cannot delete: later releases report that.
func (p *Protocol) removeLeftover(c *Claim, path string) {
	if p.remove(path) {
		c.forget()
	}
}

// giveBack deletes a claim. It returns false if the claim was not there.
func (p *Protocol) giveBack(ctx context.Context, path string) (bool, error) {
	session := p.zk.SessionID()
	again, err := p.store.Repeat(ctx, func() error { return p.zk.Delete(path) })
	switch {
	case err == nil:
		return true, nil
	case !errors.Is(err, zk.ErrNoNode):
		return false, err
	}
	return again && p.zk.SessionID() == session, nil // the call that was cut off took effect
}

// Retire gives a claim up, and deletes it in the background.
func (p *Protocol) Retire(c *Claim) {
	path := c.bury()
	p.store.Background.Run(func() { p.remove(path) })
}

// RemoveBuried deletes a claim that an attempt created after it was given up.
func (p *Protocol) RemoveBuried(c *Claim) {
	if _, ok := c.at(); !ok {
		p.remove(c.bury())
	}
}

// remove deletes what is left of a claim, however long that takes. It returns false if it cannot. Only the ensemble knows
// that a claim has ended with its session: a request that waited for a connection may be sent in a later session.
func (p *Protocol) remove(path string) bool {
	for path != "" {
		if p.store.Session.Await(p.store.Background.Life) != nil {
			return false
		}
		err := p.zk.Delete(path)
		if !store.IsDisconnect(err) {
			return err == nil || errors.Is(err, zk.ErrNoNode)
		}
		if !p.store.Background.Pause(store.RetryEvery) {
			return false
		}
	}
	return true
}
