package zklock

import (
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// place is a node of this process in a queue, or one that is being created. The first place in the queue
// holds the lock.
type place struct {
	key, dir, guid string
	reads          bool              // it shares the lock with other readers
	semaphore      *driver.Semaphore // whose slot the lock is; nil for other locks

	// Guarded by the mutex of the node it belongs to.
	path     string        // "" until it is known to exist
	session  int64         // the session that creates it
	lived    time.Duration // on the clock: when the session was last known to be alive
	czxid    int64         // of the change that created it; 0 until known
	ttl      time.Duration // of its record
	holder   string        // of its record
	version  int32         // of its data, as this process has written it
	ends     time.Duration // on the clock: when expiry fires
	watching string        // name of the watched place in front
	buried   bool          // given up: it must never hold the lock
	expiry   *time.Timer
	rename   *time.Timer
}

// begin returns the place of an attempt: this process's place in the queue if the attempt is a waiter's,
// else a new one.
func (n *node) begin(req driver.AcquireRequest) (p *place, queued bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	reads := req.Mode == driver.Read
	if p := n.waiting[req.Key]; p != nil && p.reads == reads && (req.Waiter.Enqueue || req.Waiter.Ticket != 0) {
		n.byToken[req.Token] = p
		p.ttl, p.holder, p.semaphore = req.TTL, req.Holder, req.Semaphore
		return p, true
	}
	p = &place{key: req.Key, dir: n.root + "/" + escape(req.Key), guid: guidOf(req.Token),
		ttl: req.TTL, holder: req.Holder, reads: reads, semaphore: req.Semaphore}
	n.byToken[req.Token] = p
	return p, false
}

// made records that the place exists.
func (n *node) made(p *place, path string, czxid int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.path, p.czxid = path, czxid
}

// name is what the place's name is made of, before its number.
func (p *place) name() string {
	if p.reads {
		return protected + p.guid + readerName
	}
	return protected + p.guid + lockName
}

// rivals returns those of the names that exclude the place if they are in front: all but a reader's other readers.
func (p *place) rivals(names []string) []string {
	if !p.reads {
		return names
	}
	var rivals []string
	for _, name := range names {
		if !isReader(name) {
			rivals = append(rivals, name)
		}
	}
	return rivals
}

// slots is how many slots the place's semaphore has; 0 if it is no slot.
func (p *place) slots() int {
	if p.semaphore == nil {
		return 0
	}
	return p.semaphore.Slots
}

// making records the session that is about to create the place, and the time.
func (n *node) making(p *place) (session int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.session, p.lived = n.link.SessionID(), n.clock()
	return p.session
}

// at returns the path of the place, "" if it does not exist. ok is false if the place was given up.
func (n *node) at(p *place) (path string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return p.path, !p.buried
}

// grant makes the place the holder's: it ends with the TTL from now on. It returns false if the place was
// given up meanwhile.
func (n *node) grant(p *place, token string, ttl time.Duration, queued bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p.buried || n.closed {
		return false
	}
	if n.waiting[p.key] == p {
		delete(n.waiting, p.key)
	}
	p.ends = n.clock() + ttl
	p.expiry = time.AfterFunc(ttl, func() { n.expire(p, token) })
	if queued {
		p.rename = time.AfterFunc(renameAfter, func() { n.tellHolder(p) })
	}
	return true
}

// queue keeps the place for the waiter's next attempts, and gives up the one that this process waited with before.
func (n *node) queue(p *place, token string) bool {
	n.mu.Lock()
	if p.buried || n.closed {
		n.mu.Unlock()
		return false
	}
	delete(n.byToken, token)
	former := n.waiting[p.key]
	n.waiting[p.key] = p
	n.mu.Unlock()
	if former != nil && former != p {
		path := n.bury(former)
		n.run(func() { n.remove(path) })
	}
	return true
}

// forget drops the token of an attempt that was refused.
func (n *node) forget(token string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byToken, token)
}

// vanished removes a place that probably no longer exists from the queue. It returns its former path.
func (n *node) vanished(p *place) (path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	path, p.path = p.path, ""
	if n.waiting[p.key] == p {
		delete(n.waiting, p.key)
	}
	return path
}

// bury gives a place up, even while a call works on it. It returns the path to delete, or "".
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

// expire ends a lock whose TTL passed without renewal. The session lives on.
func (n *node) expire(p *place, token string) {
	path := n.bury(p)
	n.forget(token)
	n.run(func() { n.remove(path) })
}
