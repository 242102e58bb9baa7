package claims

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/contrib/zklock/internal/store"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/claimlist"
)

// Renew prolongs a lock. It fails with ErrGone, ErrNoSlot or a driver.RevokedError if it cannot. The lock then ends when it
// would have ended without this call.
//
// It is a write, since only the leader knows whether the session lives: the server alone would answer a read. It writes
// only over what this process wrote last, and so over no mark of a revoke.
func (p *Protocol) Renew(ctx context.Context, c *Claim, ttl time.Duration, record string) error {
	began := p.store.Now()
	if !c.beginRenewal(ttl, record) {
		return claimlist.ErrGone
	}
	_, err := store.Within(ctx, p.store, p.store.Session.Await, func() (struct{}, error) {
		return struct{}{}, p.renew(ctx, c)
	}, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.ends = began + ttl
	}
	if !c.buried {
		c.expiry.Reset(c.ends - p.store.Now())
	}
	return err
}

// beginRenewal stops the end of a lock. It returns false if the lock has ended.
func (c *Claim) beginRenewal(ttl time.Duration, record string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buried || c.expiry == nil || !c.expiry.Stop() {
		return false
	}
	c.want.TTL, c.want.Record = ttl, record
	if c.rename != nil {
		c.rename.Stop()
	}
	return true
}

// renew writes the record of a claim. Data that this process did not write last is either a mark or its own record, of
// a call without an answer.
func (p *Protocol) renew(ctx context.Context, c *Claim) error {
	path, data := p.recordOf(c)
	for range tries {
		err := p.write(ctx, c, path, data)
		if errors.Is(err, zk.ErrBadVersion) {
			if err = p.readAgain(ctx, c, path); err == nil {
				continue
			}
		}
		if errors.Is(err, zk.ErrNoNode) { // it ended with its session
			return claimlist.ErrGone
		}
		return err
	}
	return errChanging(path)
}

// recordOf returns the path of a claim and the record that it should have.
func (p *Protocol) recordOf(c *Claim) (path string, data []byte) {
	session := p.store.Session.Allowed()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.path, record(c.want.TTL, session, c.want.Record)
}

// write replaces the data of a claim, if it is as this process has written it. Else it fails with zk.ErrBadVersion.
func (p *Protocol) write(ctx context.Context, c *Claim, path string, data []byte) error {
	if s := c.wanted().Semaphore; s != nil {
		return p.writeSlot(ctx, c, s, path, data)
	}
	_, err := p.store.Repeat(ctx, func() error {
		stat, err := p.zk.Set(path, data, c.writtenVersion())
		if err == nil {
			c.wrote(stat.Version)
		}
		return err
	})
	return err
}

// writeSlot is write in a transaction that fails if the semaphore does not have the slot any more.
func (p *Protocol) writeSlot(ctx context.Context, c *Claim, s *driver.Semaphore, path string, data []byte) error {
	for range tries {
		known, err := p.numbers.agree(s)
		switch {
		case err != nil:
			return store.Classify(err)
		case s.Slot >= known.slots:
			if known, err = p.numbers.read(s.Key); err != nil {
				return store.Classify(err)
			}
			if known.slots != 0 && s.Slot >= known.slots {
				return claimlist.ErrNoSlot
			}
			continue
		}
		var answers []zk.MultiResponse
		_, err = p.store.Repeat(ctx, func() error {
			answers, err = p.zk.Multi(p.numbers.check(s.Key, known),
				&zk.SetDataRequest{Path: path, Data: data, Version: c.writtenVersion()})
			return err
		})
		switch {
		case err == nil:
			c.wrote(answers[1].Stat.Version)
			return nil
		case !p.numbers.outdated(s, answers, err):
			return err
		}
	}
	return errChanging(p.tree.slots(s.Key))
}

// readAgain fails with a driver.RevokedError if the data of a claim has a mark.
func (p *Protocol) readAgain(ctx context.Context, c *Claim, path string) error {
	_, err := p.store.Repeat(ctx, func() error {
		data, stat, err := p.zk.Get(path)
		if err != nil {
			return err
		}
		if mark := parse(data, stat.Mtime).mark; mark != "" {
			return fmt.Errorf("zklock: %w", &driver.RevokedError{Record: mark})
		}
		c.wrote(stat.Version)
		return nil
	})
	return err
}

// renameAfter is how long a waiter must have held the lock before its node gets the holder's record. Until
// then the node has the record of the waiter.
const renameAfter = 10 * time.Millisecond

// nameHolder writes the holder's record after a wait. It leaves a claim alone that was revoked.
func (p *Protocol) nameHolder(c *Claim) {
	path, data := p.recordOf(c)
	if path == "" || c.Over() {
		return
	}
	p.store.Background.Run(func() {
		if stat, err := p.zk.Set(path, data, c.writtenVersion()); err == nil {
			c.wrote(stat.Version)
		}
	})
}
