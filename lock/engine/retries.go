package engine

import (
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const (
	// maxReleaseRetries bounds the releases kept for a node that does not answer. Further
	// ones are dropped: their keys live out their TTL.
	maxReleaseRetries = 4096
	// The pauses between tries double from the first to the last.
	firstRetryPause = 10 * time.Millisecond
	lastRetryPause  = 100 * time.Millisecond
)

// releaseRetries are the releases that one node has not answered. A node that was stopped
// carries out the commands in its sockets when it goes on. Among them may be acquires whose
// connections are closed by now: only a release after those leaves no key behind.
type releaseRetries struct {
	mu      sync.Mutex
	due     []pendingRelease
	running bool // a worker is at it
}

// releaseAnswer is what a node says to a release.
type releaseAnswer struct {
	from    int // index of the node
	reply   driver.ReleaseReply
	err     error
	retried bool // after err: it is asked again, and may still answer
}

// retriable is a release that can be sent again.
type retriable interface {
	retry()               // makes it one that is sent again until it is answered
	again() releaseAnswer // sends it once more
	tell(releaseAnswer)   // passes the answer on
}

// pendingRelease is a release to be sent again until it is answered.
type pendingRelease struct {
	retriable
	until time.Duration // when it is pointless
}

// add takes over a release that was not answered.
func (r *releaseRetries) add(e *set, u retriable) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.due) >= maxReleaseRetries {
		return
	}
	until := e.cfg.clock() + e.tombstoneTTL()
	u.retry()
	r.due = append(r.due, pendingRelease{retriable: u, until: until})
	if !r.running {
		r.running = e.workers.Run(func() { r.run(e) })
	}
}

// run sends the releases, one at a time, until none is left or the engine is closed.
func (r *releaseRetries) run(e *set) {
	pause := firstRetryPause
	for {
		p, ok := r.next()
		if !ok {
			return
		}
		if e.cfg.clock() < p.until {
			answer := p.again()
			if answer.err != nil {
				if !e.sleep(pause) {
					return
				}
				pause = min(2*pause, lastRetryPause)
				continue
			}
			p.tell(answer)
		}
		pause = firstRetryPause
		r.drop()
	}
}

// next is the oldest release; if there is none, the worker ends.
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
