package nodes

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

// Retries are the releases that one node has not answered. A node that was stopped
// carries out the commands in its sockets when it goes on. Among them may be acquires whose
// connections are closed by now: only a release after those leaves no key behind.
type Retries struct {
	mu      sync.Mutex
	due     []pendingRelease
	running bool // a worker is at it
}

// ReleaseAnswer is what a node says to a release.
type ReleaseAnswer struct {
	From    int // index of the node
	Reply   driver.ReleaseReply
	Err     error
	Retried bool // after err: it is asked again, and may still answer
}

// Retriable is a release that can be sent again.
type Retriable interface {
	Retry()               // makes it one that is sent again until it is answered
	Again() ReleaseAnswer // sends it once more
	Tell(ReleaseAnswer)   // passes the answer on
}

// pendingRelease is a release to be sent again until it is answered.
type pendingRelease struct {
	Retriable
	until time.Duration // when it is pointless
}

// Add takes over a release that was not answered.
func (r *Retries) Add(s *Set, u Retriable) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.due) >= maxReleaseRetries {
		return
	}
	until := s.Config.Clock() + s.TombstoneTTL()
	u.Retry()
	r.due = append(r.due, pendingRelease{Retriable: u, until: until})
	if !r.running {
		r.running = s.Workers.Run(func() { r.run(s) })
	}
}

// run sends the releases, one at a time, until none is left or the engine is closed.
func (r *Retries) run(s *Set) {
	pause := firstRetryPause
	for {
		p, ok := r.next()
		if !ok {
			return
		}
		if s.Config.Clock() < p.until {
			answer := p.Again()
			if answer.Err != nil {
				if !s.sleep(pause) {
					return
				}
				pause = min(2*pause, lastRetryPause)
				continue
			}
			p.Tell(answer)
		}
		pause = firstRetryPause
		r.drop()
	}
}

// next is the oldest release; if there is none, the worker ends.
func (r *Retries) next() (pendingRelease, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.due) == 0 {
		r.running = false
		return pendingRelease{}, false
	}
	return r.due[0], true
}

func (r *Retries) drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due = r.due[1:]
}
