package claims

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/claimlist"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
)

// Protocol makes, renews and ends the claims of this process, and reads those of others.
type Protocol struct {
	store   *store.Store
	layout  layout
	fences  fences
	numbers numbers
	watches watches
}

// New returns the protocol for locks below a prefix. notify is called with the key of a lock when the claim that waits for
// it is the first, or gone.
func New(s *store.Store, prefix, fenceKey string, notify func(key string)) *Protocol {
	p := &Protocol{
		store: s, layout: layout{prefix}, fences: fences{store: s, key: fenceKey},
		numbers: numbers{store: s, layout: layout{prefix}, renewed: make(map[string]time.Duration)},
	}
	p.watches = watches{store: s, probe: p.probe, notify: notify, open: make(map[string]*watch)}
	return p
}

// Resize sets the number of slots of a semaphore to to, if from, to or none is known, unless to is 0. It returns what was
// known before.
func (p *Protocol) Resize(ctx context.Context, semaphore string, from, to int, keep time.Duration) (known int, err error) {
	return p.numbers.set(ctx, semaphore, from, to, keep)
}

// keep renews the lease of a claim while it waits. It ignores the result: a claim that is first confirms its lease.
func (p *Protocol) keep(c *Claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	every := c.leases[0].TTL / 4
	c.keeper = time.AfterFunc(every, func() {
		p.store.Go(func(ctx context.Context) {
			_, _ = p.store.KeepAlive(ctx, c.lease().ID)
			c.mu.Lock()
			defer c.mu.Unlock()
			if !c.left {
				c.keeper.Reset(every)
			}
		})
	})
}

// stopWaiting ends keep and the watch of a claim.
func (p *Protocol) stopWaiting(c *Claim) {
	c.stop()
	p.watches.unfollow(c)
}

// Remove deletes the key of a claim. found reports that it was there, and taken that another claim excludes this one now.
// If a late call may still create the key, Remove revokes the claim's leases, so that nothing can be put under them: a key
// that came later would be nobody's, and yet hold the lock. bury says that there may be such a call.
func (p *Protocol) Remove(ctx context.Context, c *Claim, bury bool) (found, taken bool, err error) {
	if c.renaming != nil {
		c.renaming.Stop()
	}
	if bury || c.unsure.Load() || c.made == 0 {
		return c.made != 0, false, p.End(ctx, c)
	}
	answer, err := p.store.Commit(ctx, []clientv3.Cmp{c.isThere()}, []clientv3.Op{clientv3.OpDelete(c.key)},
		[]clientv3.Op{c.oldestRival()})
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return true, false, p.End(ctx, c) // 3.4 refuses any transaction then
	}
	if err != nil {
		c.unsure.Store(true)
		return false, false, err
	}
	c.over.Store(true)
	if answer.Succeeded || answer.Again { // if not now, by a try whose answer did not come
		p.store.Reuse(c.lease())
		return true, false, nil
	}
	return false, len(answer.Keys(0)) > 0, nil
}

// Keep leaves the key of a claim that is over for ttl, under a lease of its own, with another holder record. taken reports
// beside ErrGone that another claim excludes this one now.
func (p *Protocol) Keep(ctx context.Context, c *Claim, ttl time.Duration, record string) (taken bool, err error) {
	if c.renaming != nil {
		c.renaming.Stop()
	}
	l, err := p.store.Grant(ctx, store.LeaseSeconds(ttl))
	if err != nil {
		return false, err
	}
	c.mu.Lock()
	c.leases = append(c.leases, l)
	c.mu.Unlock()
	put := clientv3.OpPut(c.key, record, clientv3.WithLease(l.ID))
	answer, err := p.store.Commit(ctx, []clientv3.Cmp{c.isThere()}, []clientv3.Op{put}, []clientv3.Op{c.oldestRival()})
	switch {
	case err != nil:
		c.unsure.Store(true)
		return false, err
	case answer.Succeeded || answer.Again: // if not now, by a try whose answer did not come
		c.over.Store(true)
		return false, nil
	}
	return len(answer.Keys(0)) > 0, claimlist.ErrGone
}

// End revokes the leases of a claim, and with them its key.
func (p *Protocol) End(ctx context.Context, c *Claim) error {
	c.stop()
	c.mu.Lock()
	leases := slices.Clone(c.leases)
	c.mu.Unlock()
	err := p.store.Revoke(ctx, leases...)
	if err != nil {
		c.unsure.Store(true)
		return err
	}
	c.over.Store(true)
	return nil
}

// Retire ends an unused claim in the background, or lets it end with its lease.
func (p *Protocol) Retire(c *Claim) {
	c.stop()
	c.over.Store(true)
	p.store.Background.Run(func() {
		for over := p.store.Now() + c.lease().TTL; p.store.Now() < over; {
			ctx, cancel := p.store.Brief()
			err := p.End(ctx, c)
			cancel()
			if err == nil || !p.store.Background.Pause(store.RetryPause) {
				return
			}
		}
	})
}
