package claims

import (
	"errors"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"
)

// put creates the claim, and writes to the node above it in the same transaction. The answer to the write
// has the transaction's number, which the token is made of, and the number of claims. names is the
// queue, or nil if it has to be read.
//
// If the last queue had several claims, put also reads the queue at the same time. A server answers a
// session in order, so both take the time of one proposal.
func (p *Protocol) put(c *Claim) (names []string, err error) {
	var seen []string
	var all sync.WaitGroup
	if p.crowd.left.Load() > 0 {
		all.Go(func() { seen, _ = p.zk.Children(c.dir) })
	}
	w := c.wanted()
	_, data := p.recordOf(c)
	ops := []any{
		&zk.CreateRequest{Path: c.dir + "/" + nameOf(c.guid, w.Reads), Data: data, Acl: p.tree.acl,
			Flags: zk.FlagEphemeral | zk.FlagSequence},
		&zk.SetDataRequest{Path: c.dir, Version: -1},
	}
	var answers []zk.MultiResponse
	if w.Semaphore != nil {
		answers, err = p.numbers.multi(w.Semaphore, ops...)
	} else {
		answers, err = p.zk.Multi(ops...)
	}
	all.Wait()
	if err != nil {
		return nil, err
	}
	made, above := answers[0].String, answers[1].Stat
	c.made(made, above.Mzxid)
	p.crowd.note(above.NumChildren > 1)
	switch own := path.Base(made); {
	case above.NumChildren == 1:
		return []string{own}, nil
	case slices.Contains(seen, own):
		return queueOf(seen), nil
	}
	return nil, nil
}

// crowd is for how many more queues other claims are expected.
type crowd struct{ left atomic.Int32 }

// stayCrowded is how many queues without other claims must follow before queues are expected to be short
// again.
const stayCrowded = 10

func (c *crowd) note(several bool) {
	if several {
		c.left.Store(stayCrowded)
	} else if left := c.left.Load(); left > 0 {
		c.left.CompareAndSwap(left, left-1)
	}
}

// probe reads the queue. A waiter's claim may have ended with its session before this server knows it, so
// probe also syncs, which takes a live session. It skips the sync if the session is known to be alive. The
// sync need not come first: the first claim stays first while it exists.
func (p *Protocol) probe(c *Claim, ttl time.Duration) ([]string, error) {
	var syncErr error
	var all sync.WaitGroup
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	now := p.store.Now()
	known := c.livesFor(p.store.Session.Allowed(), now) >= ttl
	if !known {
		all.Go(func() { syncErr = p.zk.Sync(c.dir) })
	}
	names, err := p.zk.Children(c.dir)
	all.Wait()
	switch {
	case syncErr != nil:
		return nil, syncErr
	case p.zk.SessionID() != session:
		return nil, nil // the claim ended with its session; a new session was asked
	case errors.Is(err, zk.ErrNoNode):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if !known {
		c.noteLived(now)
	}
	return queueOf(names), nil
}

// know reads which transaction created a claim that was found again.
func (p *Protocol) know(c *Claim) error {
	c.mu.Lock()
	own, known := c.path, c.czxid != 0
	c.mu.Unlock()
	if known {
		return nil
	}
	_, stat, err := p.zk.Get(own)
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return nil
	case err == nil && stat.Czxid != 0:
		c.made(own, stat.Czxid)
	}
	return err
}
