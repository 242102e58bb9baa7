package zklock

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// tries is how often a place is created again if it or its parents vanished.
const tries = 3

// enter takes a place and reads which place is first.
func (n *node) enter(p *place, req driver.AcquireRequest, queued bool) (reply driver.AcquireReply, err error) {
	if err := n.checkTTL(req.TTL); err != nil {
		return reply, fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	for range tries {
		var names []string
		own, ok := n.at(p)
		switch {
		case !ok:
			return reply, driver.ErrTombstone
		case own == "":
			queued = false
			if names, err = n.create(p); err != nil {
				return n.failed(p, req, err)
			}
			if err := n.checkTTL(req.TTL); err != nil {
				return reply, err
			}
		}
		if names == nil {
			if names, err = n.look(p, req.TTL); err != nil {
				return reply, cutOff(err)
			}
		}
		own, _ = n.at(p)
		at := slices.Index(names, path.Base(own))
		if at < 0 {
			n.remove(n.vanished(p)) // its session may have been noted as the one before
			continue
		}
		front := p.rivals(names[:at])
		if len(front) == 0 {
			return n.hold(p, req, queued)
		}
		switch reply, err := n.stand(p, req, front); {
		case !errors.Is(err, zk.ErrNoNode):
			reply.Reserved = front[0] != names[0] // readers hold the lock, and who comes next is in front
			return reply, err
		case len(front) == 1: // the only one in front is gone
			return n.hold(p, req, queued)
		}
	}
	return reply, fmt.Errorf("%w: the queue of %q changes faster than it can be read: try again", driver.ErrUnreachable,
		p.key)
}

// failed is the vote for a place that could not be created.
func (n *node) failed(p *place, req driver.AcquireRequest, err error) (driver.AcquireReply, error) {
	if other, ok := errors.AsType[otherSlots](err); ok {
		n.remove(n.bury(p))
		n.forget(req.Token)
		return driver.AcquireReply{Slots: int(other)}, nil
	}
	return driver.AcquireReply{}, classify(err)
}

// create creates the place, and returns the queue if it was read with it. If the answer was lost, it
// looks for the place.
func (n *node) create(p *place) (names []string, err error) {
	for range tries {
		session := n.making(p)
		names, err := n.take(p)
		switch {
		case err == nil:
			return names, nil
		case errors.Is(err, zk.ErrNoNode):
			if err := n.createParents(p.dir); err != nil {
				return nil, err
			}
		case errors.Is(err, zk.ErrConnectionClosed):
			return nil, n.search(p, session)
		default:
			return nil, err
		}
	}
	return nil, zk.ErrNoNode
}

// search looks for a place that may have been created before the connection closed. It fails if the place
// does not exist.
func (n *node) search(p *place, session int64) error {
	for {
		if err := n.link.await(n.life); err != nil {
			return cutOff(err)
		}
		if n.link.SessionID() != session {
			return cutOff(zk.ErrSessionExpired) // it went with its session
		}
		_, err := n.link.Sync(p.dir) // it may have been made by another server than this
		var names []string
		if err == nil {
			names, _, err = n.link.Children(p.dir)
		}
		if err != nil && isDisconnect(err) {
			continue
		}
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
		for _, name := range names {
			if strings.HasPrefix(name, protected+p.guid) {
				n.made(p, p.dir+"/"+name, 0)
				return nil
			}
		}
		return cutOff(zk.ErrConnectionClosed)
	}
}

// createParents creates the node of a resource and its missing parents. The ensemble deletes the node after
// it has been empty for a while.
func (n *node) createParents(dir string) error {
	if err := n.createAbove(dir); err != nil {
		return err
	}
	if _, err := n.link.CreateContainer(dir, nil, zk.FlagContainer, n.acl); err != nil &&
		!errors.Is(err, zk.ErrNodeExists) {
		return err
	}
	return nil
}

// createAbove creates the missing parents of a node.
func (n *node) createAbove(node string) error {
	above := ""
	for _, name := range strings.Split(strings.TrimPrefix(path.Dir(node), "/"), "/") {
		above += "/" + name
		if _, err := n.link.Create(above, nil, zk.FlagPersistent, n.acl); err != nil &&
			!errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// hold is the vote for the first place.
func (n *node) hold(p *place, req driver.AcquireRequest, queued bool) (reply driver.AcquireReply, err error) {
	if err := n.know(p); err != nil {
		return reply, cutOff(err)
	}
	if queued && p.semaphore != nil {
		if err := n.confirm(p.semaphore); err != nil {
			return n.failed(p, req, cutOff(err))
		}
	}
	fence, err := n.fence(p, req.Floor)
	if err != nil {
		return reply, err
	}
	if !n.grant(p, req.Token, req.TTL, queued) {
		return reply, driver.ErrTombstone
	}
	return driver.AcquireReply{Granted: true, Counter: fence, Run: 1, Slots: p.slots()}, nil
}

// stand is the vote for any other place. For a waiter it keeps the place and watches the one in front. It
// fails with zk.ErrNoNode if that one has ended.
func (n *node) stand(p *place, req driver.AcquireRequest, front []string) (reply driver.AcquireReply, err error) {
	reply.Slots = p.slots()
	waits := req.Waiter.Enqueue || req.Waiter.Ticket != 0
	data, stat, err := n.readHolder(p, front, waits)
	switch {
	case err != nil:
		return reply, cutOff(err)
	case stat != nil:
		reply.Holder, reply.TTL = readRecord(data, stat.Mtime)
	}
	if !waits {
		n.remove(n.bury(p))
		n.forget(req.Token)
		return reply, nil
	}
	if !n.queue(p, req.Token) {
		return reply, driver.ErrTombstone
	}
	own, _ := n.at(p)
	seq, _ := seqOf(path.Base(own))
	reply.Ticket, reply.Ahead = seq+1, len(front)-1
	return reply, nil
}

// retryEvery is the pause after a call that was cut off.
const retryEvery = 50 * time.Millisecond

// remove deletes what is left of a place, however long that takes. Only the ensemble knows that a place has
// ended with its session: a request that waited for a connection may be sent in a later session.
func (n *node) remove(path string) {
	for path != "" {
		if n.link.await(n.life) != nil {
			return
		}
		if err := n.link.Delete(path, -1); err == nil || !isDisconnect(err) {
			return
		}
		select {
		case <-time.After(retryEvery):
		case <-n.life.Done():
			return
		}
	}
}

// removeBuried deletes a place that an attempt created after it was given up.
func (n *node) removeBuried(p *place) {
	if _, ok := n.at(p); !ok {
		n.remove(n.bury(p))
	}
}
