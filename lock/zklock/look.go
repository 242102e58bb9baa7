package zklock

import (
	"errors"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// take makes the place, and writes to the node above it in the same change. The answer to
// the write was seen by that change: its number, which is the token's, and how many places
// there were. names is the queue, or nil if it has to be read.
//
// Where the last queue was of several, this one is asked for on the same way: a server
// answers a session in order, so that both take the time of one proposal.
func (n *node) take(p *place) (names []string, err error) {
	var seen []string
	var all sync.WaitGroup
	if n.crowded.Load() > 0 {
		all.Go(func() { seen, _, _ = n.link.Children(p.dir) })
	}
	answers, err := n.link.Multi(
		&zk.CreateRequest{Path: p.dir + "/" + protected + p.guid + lockName, Data: p.data, Acl: n.acl,
			Flags: zk.FlagEphemeral | zk.FlagSequence},
		&zk.SetDataRequest{Path: p.dir, Version: -1})
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

// stayCrowded is how many queues of nobody else it takes until queues are taken for short
// again.
const stayCrowded = 10

func (n *node) noteCrowd(several bool) {
	if several {
		n.crowded.Store(stayCrowded)
	} else if left := n.crowded.Load(); left > 0 {
		n.crowded.CompareAndSwap(left, left-1)
	}
}

// look reads the queue. The place of who has queued may have gone with its session, and the
// server not know it yet: to sync takes a session that lives. It is not needed where that
// is known without, and need not come first, for who was the first in the queue stays that
// while its place is there.
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
		return nil, nil // the place went with its session, and it is another that was asked
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

// know finds out which change made a place that was found again.
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
