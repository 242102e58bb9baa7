package lock

import (
	"context"
	"fmt"
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

// releaseTries is how often a release that got no answer is sent.
const releaseTries = 3

// release undoes the token on this node. It must run in the seat's line, so that
// what it undoes has been answered or given up. A node that never got the token,
// or said no to it, is not asked unless always is set.
func (s *seat) release(ctx context.Context, r *Redlock, ts tracers, e NodeStart, req ReleaseRequest, always bool) (ReleaseReply, error) {
	state, _ := s.standing()
	switch {
	case state == unknown:
		req.Tombstone = r.tombstoneTTL()
	case state != granted:
		if !always {
			return ReleaseReply{Outcome: Expired}, nil
		}
	}
	if state != granted {
		req.Waiter = Waiter{}
	}
	var reply ReleaseReply
	var err error
	for range releaseTries {
		err = s.call(ctx, r.cfg.nodeTimeout, ts, e, func(ctx context.Context) (Verdict, error) {
			reply, err = s.Release(ctx, req)
			return verdictOf(reply.Outcome == Released), err
		})
		if err == nil {
			s.set(refused, 0)
			return reply, nil
		}
		if state != granted && state != unknown {
			break
		}
	}
	return reply, fmt.Errorf("after %d tries: %w", releaseTries, err)
}

func verdictOf(ok bool) Verdict {
	if ok {
		return Granted
	}
	return Refused
}

// tombstoneTTL is how long after giving up a late acquire is still kept out.
func (r *Redlock) tombstoneTTL() time.Duration { return max(r.cfg.maxTTL, time.Minute) }
