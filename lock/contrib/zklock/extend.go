package zklock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// Extend implements driver.BlockingNode. It is a write, since only the leader knows whether the session
// lives: the server alone would answer a read. It writes only what this process wrote last, and so no place that
// was revoked meanwhile. The place then ends when it would have ended without this call.
func (n *node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	began := n.clock()
	n.mu.Lock()
	p := n.byToken[req.Token]
	if p == nil || p.buried || p.expiry == nil || !p.expiry.Stop() {
		n.mu.Unlock()
		return driver.ExtendGone, nil
	}
	p.ttl, p.holder = req.TTL, req.Holder
	if p.rename != nil {
		p.rename.Stop()
	}
	n.mu.Unlock()
	renew := func() (driver.ExtendReply, error) { return n.renew(ctx, p) }
	reply, err := within(ctx, n, n.link.await, renew, nil)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil && reply == driver.ExtendDone {
		p.ends = began + req.TTL
	}
	if !p.buried {
		p.expiry.Reset(p.ends - n.clock())
	}
	return reply, err
}

// renew writes the record of a place. Data that this process did not write last is either a mark or its own record, of
// a call without an answer.
func (n *node) renew(ctx context.Context, p *place) (reply driver.ExtendReply, err error) {
	path, data := n.recordOf(p)
	for range tries {
		if p.semaphore != nil {
			reply, err = n.extendSlot(ctx, p, path, data)
		} else {
			reply, err = n.write(ctx, p, path, data)
		}
		if errors.Is(err, zk.ErrBadVersion) {
			reply, err = n.readAgain(ctx, p, path)
			if err == nil && reply == driver.ExtendDone {
				continue
			}
		}
		if errors.Is(err, zk.ErrNoNode) { // it ended with its session
			return driver.ExtendGone, nil
		}
		return reply, err
	}
	return 0, errChanging(path)
}

// recordOf returns the path of a place and the record that it should have.
func (n *node) recordOf(p *place) (path string, data []byte) {
	session := n.link.allowed()
	n.mu.Lock()
	defer n.mu.Unlock()
	return p.path, record(p.ttl, session, p.holder)
}

func (n *node) versionOf(p *place) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return p.version
}

// wrote records the version of a place's data. Answers may come in another order than the writes.
func (n *node) wrote(p *place, version int32) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.version = max(p.version, version)
}

// write replaces the data of a place, if it is as this process has written it. Else it fails with zk.ErrBadVersion.
func (n *node) write(ctx context.Context, p *place, path string, data []byte) (driver.ExtendReply, error) {
	_, err := n.repeat(ctx, func() error {
		stat, err := n.link.Set(path, data, n.versionOf(p))
		if err == nil {
			n.wrote(p, stat.Version)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return driver.ExtendDone, nil
}

// readAgain returns driver.ExtendDone if the data of a place has no mark, and a *driver.RevokedError if it has one.
func (n *node) readAgain(ctx context.Context, p *place, path string) (driver.ExtendReply, error) {
	_, err := n.repeat(ctx, func() error {
		data, stat, err := n.link.Get(path)
		switch {
		case err != nil:
			return err
		case parse(data, stat.Mtime).mark != "":
			return fmt.Errorf("zklock: %w", &driver.RevokedError{Record: parse(data, stat.Mtime).mark})
		}
		n.wrote(p, stat.Version)
		return nil
	})
	return driver.ExtendDone, err
}

// renameAfter is how long a waiter must have held the lock before its node gets the holder's record. Until
// then the node has the record of the waiter.
const renameAfter = 10 * time.Millisecond

// tellHolder leaves a place alone that was revoked.
func (n *node) tellHolder(p *place) {
	path, data := n.recordOf(p)
	n.mu.Lock()
	buried := p.buried
	n.mu.Unlock()
	if buried || path == "" {
		return
	}
	n.run(func() {
		if stat, err := n.link.Set(path, data, n.versionOf(p)); err == nil {
			n.wrote(p, stat.Version)
		}
	})
}
