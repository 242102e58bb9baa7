package lock

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
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
	late    bool   // a call was not answered, and may still arrive
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
	s.late = s.late || state == unknown
	if counter != 0 {
		s.counter = counter
	}
}

// mayArrive reports that a call which can set the token was not answered: however
// things look now, it can still take effect.
func (s *seat) mayArrive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late
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

// parting is what a node says to a release.
type parting struct {
	seat  int
	reply driver.ReleaseReply
	err   error
	owed  bool // after err: it is asked again, and may still answer
}

// release undoes the token on this node and tells said what came of it. It must
// run in the seat's line, so that what it undoes has been answered or given up. A
// node that never got the token, or said no to it, is asked only if always is set.
// A node that may have the token and does not answer is asked again in the
// background, and said told again if it does.
func (s *seat) release(ctx context.Context, r *Engine, ts tracers, e NodeStart, req driver.ReleaseRequest, always bool, said func(parting)) {
	state, _ := s.standing()
	if s.mayArrive() {
		req.Tombstone = r.tombstoneTTL()
	} else if state != granted && !always {
		said(parting{reply: driver.ReleaseReply{Found: driver.FoundNothing}})
		return
	}
	if state != granted {
		req.Waiter = driver.Waiter{}
	}
	reply, err := s.member.release(r, ctx, ts, e, req)
	owed := err != nil && (state == granted || req.Tombstone > 0)
	said(parting{reply: reply, err: err, owed: owed})
	if err == nil {
		s.set(refused, 0)
	} else if owed {
		// By the time the node answers again, others will have queued behind the key.
		req.Handoff = r.cfg.handoffWindow()
		s.owe(r, overdue{
			ctx: context.WithoutCancel(ctx), ts: ts, event: e, req: req,
			said: func(reply driver.ReleaseReply) { said(parting{reply: reply}) },
		})
	}
}

// sleep pauses unless the Redlock is closed; it reports whether it is not.
func (r *Engine) sleep(d time.Duration) bool {
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
func (r *Engine) tombstoneTTL() time.Duration { return max(r.cfg.MaxTTL, time.Minute) }
