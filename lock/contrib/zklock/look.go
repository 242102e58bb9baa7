package zklock

import (
	"errors"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

// take creates the place, and writes to the node above it in the same transaction. The answer to the write
// has the transaction's number, which the token is made of, and the number of places. names is the
// queue, or nil if it has to be read.
//
// If the last queue had several places, take also reads the queue at the same time. A server answers a
// session in order, so both take the time of one proposal.
func (n *node) take(p *place) (names []string, err error) {
	var seen []string
	var all sync.WaitGroup
	if n.crowded.Load() > 0 {
		all.Go(func() { seen, _, _ = n.link.Children(p.dir) })
	}
	_, data := n.recordOf(p)
	ops := []any{
		&zk.CreateRequest{Path: p.dir + "/" + p.name(), Data: data, Acl: n.acl,
			Flags: zk.FlagEphemeral | zk.FlagSequence},
		&zk.SetDataRequest{Path: p.dir, Version: -1},
	}
	answers, err := n.multi(p.semaphore, ops)
	all.Wait()
	if err != nil {
		return nil, err
	}
	made, above := answers[0].String, answers[1].Stat
	n.made(p, made, above.Mzxid)
	n.noteCrowd(above.NumChildren > 1)
	switch own := path.Base(made); {
	case above.NumChildren == 1:
		return []string{own}, nil
	case slices.Contains(seen, own):
		return queueOf(seen), nil
	}
	return nil, nil
}

// multi carries out operations on a place, if the number of slots of its semaphore is the one that it says. It fails
// with otherSlots if that is another.
func (n *node) multi(s *driver.Semaphore, ops []any) ([]zk.MultiResponse, error) {
	if s == nil {
		return n.link.Multi(ops...)
	}
	for range tries {
		known, err := n.agree(s)
		if err != nil {
			return nil, err
		}
		if known.slots != s.Slots {
			return nil, otherSlots(known.slots)
		}
		answers, err := n.link.Multi(append([]any{n.check(s.Key, known)}, ops...)...)
		switch {
		case err == nil:
			return answers[1:], nil
		case !n.outdated(s, answers, err):
			return nil, err
		}
	}
	return nil, errChanging(n.slotsPath(s.Key))
}

// stayCrowded is how many queues without other places must follow before queues are expected to be short
// again.
const stayCrowded = 10

func (n *node) noteCrowd(several bool) {
	if several {
		n.crowded.Store(stayCrowded)
	} else if left := n.crowded.Load(); left > 0 {
		n.crowded.CompareAndSwap(left, left-1)
	}
}

// look reads the queue. A waiter's place may have ended with its session before this server knows it, so
// look also syncs, which takes a live session. It skips the sync if the session is known to be alive. The
// sync need not come first: the first place stays first while it exists.
func (n *node) look(p *place, ttl time.Duration) ([]string, error) {
	var syncErr error
	var all sync.WaitGroup
	n.mu.Lock()
	session := p.session
	n.mu.Unlock()
	known, now := n.lives(p, ttl), n.clock()
	if !known {
		all.Go(func() { _, syncErr = n.link.Sync(p.dir) })
	}
	names, _, err := n.link.Children(p.dir)
	all.Wait()
	switch {
	case syncErr != nil:
		return nil, syncErr
	case n.link.SessionID() != session:
		return nil, nil // the place ended with its session; a new session was asked
	case errors.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if !known {
		n.noteLived(p, now)
	}
	return queueOf(names), nil
}

// know reads which transaction created a place that was found again.
func (n *node) know(p *place) error {
	n.mu.Lock()
	own, known := p.path, p.czxid != 0
	n.mu.Unlock()
	if known {
		return nil
	}
	_, stat, err := n.link.Exists(own)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil
	case err != nil:
		return err
	case stat.Czxid != 0:
		n.made(p, own, stat.Czxid)
	}
	return nil
}
