package nodes

import (
	"sync"
	"time"
)

// Pending are the releases, and the calls that leave a queue, that a node has not answered once, and the calls of Acquire,
// which may yet begin some. Close waits for them before it closes the nodes: a node that drops a release keeps the lock
// until its TTL is over.
type Pending struct {
	mu   sync.Mutex
	left int
	none chan struct{} // closed once left is 0; nil if nobody waits
}

// Begin counts one that is about to be queued.
func (p *Pending) Begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left++
}

// End counts its first answer.
func (p *Pending) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left--; p.left == 0 && p.none != nil {
		close(p.none)
		p.none = nil
	}
}

// Wait returns once none is left, or the time is up: behind a node that hangs, any number of releases may be queued, and
// a hook of a call may be what waits here. One caller may wait at a time.
func (p *Pending) Wait(atMost time.Duration) {
	p.mu.Lock()
	if p.left == 0 {
		p.mu.Unlock()
		return
	}
	none := make(chan struct{})
	p.none = none
	p.mu.Unlock()
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}
