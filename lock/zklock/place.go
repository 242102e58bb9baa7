package zklock

import (
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// place is a node of ours in a queue, or one that is being made. The first in the queue
// holds the lock.
type place struct {
	key, dir, guid string

	// Guarded by the mutex of the node it belongs to.
	path     string        // "" until it is known to be there
	session  int64         // in which it is made
	lived    time.Duration // on the clock: the session lived then, or later
	czxid    int64         // of the change that made it; 0 until it is known
	data     []byte        // what it says, or will
	watching string        // name of the one in front that is watched
	buried   bool          // given up: it must not come to hold anything
	expiry   *time.Timer
	rename   *time.Timer
}

// begin finds the place of an attempt: that of this process in the queue, if the attempt
// is of who waits there, or a new one.
func (n *node) begin(req driver.AcquireRequest) (p *place, queued bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.waiting[req.Key]; p != nil && (req.Waiter.Enqueue || req.Waiter.Ticket != 0) {
		n.byToken[req.Token] = p
		p.data = record(req.TTL, req.Holder)
		return p, true
	}
	p = &place{key: req.Key, dir: n.root + "/" + escape(req.Key), guid: guidOf(req.Token),
		data: record(req.TTL, req.Holder)}
	n.byToken[req.Token] = p
	return p, false
}

// made notes that the place is there.
func (n *node) made(p *place, path string, czxid int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.path, p.czxid = path, czxid
}

// making notes in which session the place is about to be made, and when.
func (n *node) making(p *place) (session int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.session, p.lived = n.link.SessionID(), n.clock()
	return p.session
}

// at returns the path of the place, "" if it is not there; ok is false if it was given up.
func (n *node) at(p *place) (path string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return p.path, !p.buried
}

// grant makes the place that of the holder: from now on it goes when the TTL has run out.
// It is false if it was given up meanwhile.
func (n *node) grant(p *place, token string, ttl time.Duration, queued bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.buried || n.closed {
		return false
	}
	if n.waiting[p.key] == p {
		delete(n.waiting, p.key)
	}
	p.expiry = time.AfterFunc(ttl, func() { n.expire(p, token) })
	if queued {
		p.rename = time.AfterFunc(renameAfter, func() { n.tellHolder(p) })
	}
	return true
}

// queue keeps the place for attempts to come.
func (n *node) queue(p *place, token string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.buried || n.closed {
		return false
	}
	delete(n.byToken, token)
	n.waiting[p.key] = p
	return true
}

// forget drops what an attempt had that was refused.
func (n *node) forget(token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byToken, token)
}

// vanished takes a place out of the queue that is not there any more, as far as is known. It
// returns where it was.
func (n *node) vanished(p *place) (path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	path, p.path = p.path, ""
	if n.waiting[p.key] == p {
		delete(n.waiting, p.key)
	}
	return path
}

// bury gives a place up, whoever still works on it. It returns what is to be removed, or "".
func (n *node) bury(p *place) (path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.buried = true
	for _, timer := range []*time.Timer{p.expiry, p.rename} {
		if timer != nil {
			timer.Stop()
		}
	}
	if n.waiting[p.key] == p {
		delete(n.waiting, p.key)
	}
	return p.path
}

// expire is the end of a TTL that nobody prolonged: the session lives on, the lock does not.
func (n *node) expire(p *place, token string) {
	path := n.bury(p)
	n.forget(token)
	n.run(func() { n.remove(path) })
}

// renameAfter is how long one must have had the lock for its node to say so: until then it
// says what was written when it queued.
const renameAfter = 10 * time.Millisecond

func (n *node) tellHolder(p *place) {
	n.mu.Lock()
	path, data := p.path, p.data
	if p.buried {
		path = ""
	}
	n.mu.Unlock()
	if path != "" {
		n.run(func() { _, _ = n.link.Set(path, data, -1) })
	}
}
