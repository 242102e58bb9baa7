package engine

import (
	"sync"
	"time"
)

const (
	// maxReleaseRetries bounds the releases kept for a node that does not answer. Further
	// ones are dropped: their keys live out their TTL.
	maxReleaseRetries = 4096
	// The pauses between tries double from the first to the last.
	firstRetryPause = 10 * time.Millisecond
	lastRetryPause  = 100 * time.Millisecond
)

// releaseRetries are the releases one node has not answered. A node that was
// stopped carries out what its sockets hold when it goes on, acquires among it
// whose connections are long closed; it takes a release after that, not one
// before, to leave no key behind.
type releaseRetries struct {
	mu      sync.Mutex
	due     []pendingRelease
	running bool // a worker is at it
}

// pendingRelease is a release to be sent again until it is answered.
type pendingRelease struct {
	*undoing
	until time.Duration // when it is pointless
}

// retryRelease takes a release over that was not answered.
func (n *node) retryRelease(u *undoing) {
	n.retries.mu.Lock()
	defer n.retries.mu.Unlock()
	if len(n.retries.due) >= maxReleaseRetries {
		return
	}
	until := n.engine.cfg.Clock() + n.engine.tombstoneTTL()
	u.retry()
	n.retries.due = append(n.retries.due, pendingRelease{undoing: u, until: until})
	if !n.retries.running {
		n.retries.running = n.engine.workers.Run(n.runRetries)
	}
}

// runRetries sends what is due, one at a time, until nothing is or the engine is closed.
func (n *node) runRetries() {
	pause := firstRetryPause
	for {
		p, ok := n.retries.next()
		if !ok {
			return
		}
		if n.engine.cfg.Clock() < p.until {
			answer := p.again()
			if answer.err != nil {
				if !n.engine.sleep(pause) {
					return
				}
				pause = min(2*pause, lastRetryPause)
				continue
			}
			p.tell(answer)
		}
		pause = firstRetryPause
		n.retries.drop()
	}
}

// next is the oldest; without one the worker is done.
func (r *releaseRetries) next() (pendingRelease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.due) == 0 {
		r.running = false
		return pendingRelease{}, false
	}
	return r.due[0], true
}

func (r *releaseRetries) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due = r.due[1:]
}
