package claims

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// Enter creates a claim unless it exists, and reads which claim is first. queued says that the claim was made by an earlier
// attempt.
//
// The first claim holds the lock only if its session outlives the TTL. The attempt that creates a claim has written to the
// ensemble just now, which proves the session. A claim that has waited may have ended already with a session that the
// leader let go, while this server has not heard of it, and another process holds the lock: so a sync is needed if the
// session's last proof is too old.
func (p *Protocol) Enter(c *Claim, queued bool) (e claimlist.Entry, err error) {
	w := c.wanted()
	if err := p.store.Session.CheckTTL(w.TTL); err != nil {
		return e, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	for range tries {
		var names []string
		own, ok := c.at()
		switch {
		case !ok:
			return e, driver.ErrTombstone
		case own == "":
			queued = false
			if names, err = p.create(c); err != nil {
				return p.failed(c, err)
			}
			if err := p.store.Session.CheckTTL(w.TTL); err != nil {
				return e, err
			}
		}
		if names == nil {
			if names, err = p.probe(c, w.TTL); err != nil {
				return e, store.CutOff(err)
			}
		}
		own, _ = c.at()
		at := slices.Index(names, path.Base(own))
		if at < 0 {
			p.remove(c.vanished()) // its session may have been noted as the one before
			continue
		}
		front := claimlist.Rivals(names[:at], w.Reads, isReader)
		if len(front) == 0 {
			return p.hold(c, queued)
		}
		switch e, err := p.stand(c, front); {
		case !errors.Is(err, zk.ErrNoNode):
			e.Reserved = front[0] != names[0]
			return e, err
		case len(front) == 1: // the only one in front is gone
			return p.hold(c, queued)
		}
	}
	return e, fmt.Errorf("%w: the queue of %q changes faster than it can be read: try again", driver.ErrUnreachable, w.Key)
}

// failed is the entry of a claim whose semaphore does not have its slot, or another error.
func (p *Protocol) failed(c *Claim, err error) (claimlist.Entry, error) {
	if other, ok := errors.AsType[otherSlots](err); ok {
		p.remove(c.bury())
		return claimlist.Entry{Slots: int(other)}, nil
	}
	return claimlist.Entry{}, store.Classify(err)
}

// create creates the claim, and returns the queue if it was read with it. If the answer was lost, it
// looks for the claim.
func (p *Protocol) create(c *Claim) (names []string, err error) {
	for range tries {
		session := p.zk.SessionID()
		c.making(session, p.store.Now())
		names, err := p.put(c)
		switch {
		case err == nil:
			return names, nil
		case errors.Is(err, zk.ErrNoNode):
			if err := p.tree.createDir(c.dir); err != nil {
				return nil, err
			}
		case errors.Is(err, zk.ErrConnectionClosed):
			return nil, p.search(c, session)
		default:
			return nil, err
		}
	}
	return nil, zk.ErrNoNode
}

// search looks for a claim that may have been created before the connection closed. It fails if the claim
// does not exist.
func (p *Protocol) search(c *Claim, session int64) error {
	for {
		if err := p.store.Session.Await(p.store.Background.Life); err != nil {
			return store.CutOff(err)
		}
		if p.zk.SessionID() != session {
			return store.CutOff(zk.ErrSessionExpired) // it went with its session
		}
		err := p.zk.Sync(c.dir) // it may have been made by another server than this
		var names []string
		if err == nil {
			names, err = p.zk.Children(c.dir)
		}
		if err != nil && store.IsDisconnect(err) {
			continue
		}
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		for _, name := range names {
			if strings.HasPrefix(name, protected+c.guid) {
				c.made(c.dir+"/"+name, 0)
				return nil
			}
		}
		return store.CutOff(zk.ErrConnectionClosed)
	}
}

// hold is the entry of the first claim.
func (p *Protocol) hold(c *Claim, queued bool) (claimlist.Entry, error) {
	w := c.wanted()
	if err := p.know(c); err != nil {
		return claimlist.Entry{}, store.CutOff(err)
	}
	if queued && w.Semaphore != nil {
		if err := p.numbers.confirm(w.Semaphore); err != nil {
			return p.failed(c, store.CutOff(err))
		}
	}
	fence, err := p.fences.of(c, w.Floor)
	if err != nil {
		return claimlist.Entry{}, err
	}
	if !p.grant(c, queued) {
		return claimlist.Entry{}, driver.ErrTombstone
	}
	return claimlist.Entry{Granted: true, Fence: fence, Slots: w.Slots()}, nil
}

// grant makes the claim the holder's: it ends with the TTL from now on. It returns false if the claim was
// given up meanwhile.
func (p *Protocol) grant(c *Claim, queued bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buried || p.store.Background.Life.Err() != nil {
		return false
	}
	w, expired := c.want, c.expired
	c.ends = p.store.Now() + w.TTL
	c.expiry = time.AfterFunc(w.TTL, func() { // the session lives on
		p.Retire(c)
		expired()
	})
	if queued {
		c.rename = time.AfterFunc(renameAfter, func() { p.nameHolder(c) })
	}
	return true
}

// stand is the entry of any other claim. It watches the claim in front of one that waits. It fails with zk.ErrNoNode if
// that one has ended.
func (p *Protocol) stand(c *Claim, front []string) (e claimlist.Entry, err error) {
	w := c.wanted()
	data, stat, err := p.watches.readHolder(c, front, w.Waits)
	switch {
	case err != nil:
		return e, store.CutOff(err)
	case stat != nil:
		if r := parse(data, stat.Mtime); r.holder != "" {
			e.Record, e.Left = r.holder, r.left()
		}
	}
	e.Slots = w.Slots()
	if !w.Waits {
		p.remove(c.bury())
		return e, nil
	}
	own, ok := c.at()
	if !ok {
		return claimlist.Entry{}, driver.ErrTombstone
	}
	seq, _ := seqOf(path.Base(own))
	e.Waits, e.Ticket, e.Ahead = true, seq+1, len(front)-1
	return e, nil
}
