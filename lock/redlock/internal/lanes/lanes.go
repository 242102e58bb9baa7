// Package lanes carries the commands of one node on a few sticky connections, each of which
// sends whatever has gathered meanwhile as one pipeline.
package lanes

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

const (
	// maxLanes is how many connections a node has at most. Commands gather while one is
	// busy: more connections mean more system calls for the same work. Only where a reply
	// takes longer than a server nearby needs is another one used, and a second where there
	// is much to do.
	maxLanes   = 4
	overlap    = 16
	nearby     = 300 * time.Microsecond
	perCommand = 20 * time.Microsecond
	connecting = 10 * time.Millisecond
	// maxBatch bounds one pipeline, and so what one answer that does not come takes
	// down with it.
	maxBatch = 128
)

// Lanes carry the commands of one node. Each is one connection, which sends whatever has
// gathered while all lanes were busy as one pipeline, and waits for all the replies. One
// that is not connected takes no command before it is: there may be another to take it.
// Nothing keeps an order between them: the engine has one command for a resource under
// way on a node at a time.
//
// A command is answered by its deadline, whatever its connection does: one that was not
// written by then is dropped, one that was may still be executed.
type Lanes struct {
	connector *Connector
	guard     *guard.Guard
	scripts   *scripts.Set
	ctx       context.Context // of dials
	cancel    context.CancelFunc
	running   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	all     []*lane
	idle    []*lane   // those without a connection first; the last is the one used last
	failed  time.Time // the last dial that did
	failure error
	// dialled counts the dials that have ended, and dialFailures those that were in vain.
	dialled, dialFailures uint64
	waiting               []*Command // for a lane to take
	watch                 time.Time  // when the timer goes off; zero if it does not

	expiring sync.Mutex // held while commands that ran out of time are answered
	timer    *time.Timer
}

// New are the lanes of one node, which the guard knows.
func New(c *Connector, g *guard.Guard, s *scripts.Set) *Lanes {
	p := &Lanes{connector: c, guard: g, scripts: s}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.timer = time.AfterFunc(time.Hour, p.expire)
	p.timer.Stop()
	return p
}

// Submit takes a command over.
func (p *Lanes) Submit(c *Command) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		c.refuse(driver.ErrClosed)
		return
	}
	p.watchOver(c.Call.Deadline)
	if l := p.borrow(c); l != nil {
		p.watchOver(l.began.Add(glance))
		p.mu.Unlock()
		l.carry()
		p.giveBack(l)
		return
	}
	p.waiting = append(p.waiting, c)
	if !p.rouse() {
		p.watchOver(time.Now().Add(glance)) // the lane that is waited for may hang
	}
	p.mu.Unlock()
}

// gather gives the lane what is waiting, as much as one pipeline takes.
func (p *Lanes) gather(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.waiting), maxBatch)
	for _, c := range p.waiting[:n] {
		c.written = true
	}
	l.flight, l.began = append(l.flight[:0], p.waiting[:n]...), time.Now()
	p.waiting = append(p.waiting[:0], p.waiting[n:]...)
}

// landed says that nothing is under way on the lane any more, and returns those commands
// that nobody has answered.
func (p *Lanes) landed(l *lane) []*Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.done = l.done[:0]
	for _, c := range l.flight {
		if !c.answered {
			c.answered = true
			l.done = append(l.done, c)
		}
	}
	clear(l.flight)
	l.flight = l.flight[:0]
	return l.done
}

// Close refuses what is waiting, lets what is under way be answered, and ends the lanes.
func (p *Lanes) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	waiting := p.waiting
	p.waiting = nil
	for _, l := range p.idle {
		close(l.wake)
	}
	p.idle = nil
	p.mu.Unlock()
	for _, c := range waiting {
		c.refuse(driver.ErrClosed)
	}
	p.cutIdle()
	p.running.Wait()
	p.cancel()
	p.timer.Stop()
	p.expiring.Lock() // until nobody is being answered any more
	defer p.expiring.Unlock()
}

// cutIdle ends the connections on which nobody waits for an answer any more.
func (p *Lanes) cutIdle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	busy := false
	for _, l := range p.all {
		waited := false
		for _, c := range l.flight {
			waited = waited || !c.answered
		}
		if !waited {
			l.cut()
		}
		busy = busy || waited
	}
	if !busy {
		p.cancel() // dials as well
	}
}
