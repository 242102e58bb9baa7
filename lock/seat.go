package lock

import (
	"context"
	"sync"
	"time"
)

// standing is what is known of one token on one node.
type standing int

const (
	unasked standing = iota // nothing was sent
	granted                 // the node holds the token
	refused                 // the node does not hold it, and will not
	unknown                 // sent, outcome not known: it may hold it, or come to
)

// seat is one node's part in one attempt and in the lease it becomes: it
// remembers what the node last said of the token.
type seat struct {
	*member
	line *line

	mu      sync.Mutex
	state   standing
	counter uint64 // fence counter of the grant
	givenUp bool   // the token was given up: nothing may be set any more
}

// standing is the node's last word and its fence counter.
func (s *seat) standing() (standing, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.counter
}

func (s *seat) set(state standing, counter uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
	if counter != 0 {
		s.counter = counter
	}
}

// giveUp keeps calls that have not begun from setting anything.
func (s *seat) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.givenUp = true
}

// open reports that the token may still be set on the node.
func (s *seat) open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.givenUp
}

// A release that gets no answer is sent again after pauses that double from the
// first to the last, about two seconds long in all: a node that was stalled, or a
// process that was short of CPU, should not leave a key until its TTL.
const (
	firstReleasePause = 10 * time.Millisecond
	lastReleasePause  = time.Second
)

// release undoes the token on this node. It must run in the seat's line, so that
// what it undoes has been answered or given up. A node that never got the token,
// or said no to it, is asked once if at all.
func (s *seat) release(ctx context.Context, r *Redlock, ts tracers, e NodeStart, req ReleaseRequest, always bool) (ReleaseReply, error) {
	state, _ := s.standing()
	if state != granted {
		req.Waiter = Waiter{}
		if state == unknown {
			req.Tombstone = r.tombstoneTTL()
		} else if !always {
			return ReleaseReply{Outcome: Expired}, nil
		}
	}
	pause := firstReleasePause
	for {
		reply, err := s.releaseOnce(ctx, r, ts, e, req)
		if err == nil {
			s.set(refused, 0)
			return reply, nil
		}
		if state == unasked || state == refused || pause > lastReleasePause || !r.sleep(pause) {
			return reply, err
		}
		pause *= 2
	}
}

func (s *seat) releaseOnce(ctx context.Context, r *Redlock, ts tracers, e NodeStart, req ReleaseRequest) (reply ReleaseReply, err error) {
	ctx, cancel := r.within(ctx)
	defer cancel()
	err = s.call(ctx, ts, e, func(ctx context.Context) (Verdict, error) {
		reply, err = s.Release(ctx, req)
		return verdictOf(reply.Outcome == Released), err
	})
	return reply, err
}

// sleep pauses unless the Redlock is closed; it reports whether it is not.
func (r *Redlock) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.done:
		return false
	}
}

func verdictOf(ok bool) Verdict {
	if ok {
		return Granted
	}
	return Refused
}

// tombstoneTTL is how long after giving up a late acquire is still kept out.
func (r *Redlock) tombstoneTTL() time.Duration { return max(r.cfg.maxTTL, time.Minute) }
