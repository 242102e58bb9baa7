package lanes

import (
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/internal/spare"
)

const (
	// maxBatch bounds one pipeline, and so how many commands fail with one lost answer.
	maxBatch = 128
	// spareInterval is how often a lane may end because the commands since were sent without it. A node that was slow
	// for a moment gets the others' commands too, and would keep the connections of all clients.
	spareInterval = time.Minute
)

// pool is the lanes of a node and the commands that wait for one of them. It decides which
// lane takes what, and sends nothing.
type pool struct {
	start   func(*lane) // begins to run a lane that is new, with the mutex held
	lending bool        // callers that only wait may send their own commands

	mu      sync.Mutex
	alarm   alarm // for what expires, and for peeks
	closed  bool
	all     []*lane
	idle    idleLanes
	watch   spare.Watch
	dials   dialRecord
	waiting []*Command // for a lane to take
}

func newPool(start func(*lane), ring func(), lending bool) *pool {
	return &pool{start: start, lending: lending, alarm: newAlarm(ring), watch: spare.Watch{Every: spareInterval}}
}

// await returns once something is waiting, false if the lane has come to its end.
func (p *pool) await(l *lane) bool {
	p.mu.Lock()
	if p.closed || len(p.waiting) > 0 && !l.skipped {
		defer p.mu.Unlock()
		return !p.closed
	}
	l.skipped = false
	p.putIdle(l)
	p.mu.Unlock()
	_, ok := <-l.wake
	return ok
}

// putIdle makes a lane idle. It ends the lane that was used least, which may be this one, if there is one too many. It
// expects the mutex to be held.
func (p *pool) putIdle(l *lane) {
	p.idle.put(l)
	if !p.watch.Spare(len(p.idle)) {
		return
	}
	ends := p.idle.takeFirst()
	p.all = slices.DeleteFunc(p.all, func(l *lane) bool { return l == ends })
	close(ends.wake)
}

// takeIdle takes the idle lane that was used last; nil if there is none. It expects the mutex to be held.
func (p *pool) takeIdle() *lane {
	l := p.idle.last()
	if l != nil {
		p.idle.takeLast()
		p.watch.Took(len(p.idle))
	}
	return l
}

// take gives the lane what is waiting, as much as one pipeline takes.
func (p *pool) take(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := min(len(p.waiting), maxBatch)
	for _, c := range p.waiting[:n] {
		c.written = true
	}
	l.inFlight, l.began = append(l.inFlight[:0], p.waiting[:n]...), time.Now()
	p.waiting = append(p.waiting[:0], p.waiting[n:]...)
}

// complete records that nothing is under way on the lane, and returns the commands that are not answered yet.
func (p *pool) complete(l *lane) []*Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.done = l.done[:0]
	for _, c := range l.inFlight {
		if !c.answered {
			c.answered = true
			l.done = append(l.done, c)
		}
	}
	clear(l.inFlight)
	l.inFlight = l.inFlight[:0]
	return l.done
}

// dialRefusal returns why a lane should not dial now; nil if it may.
func (p *pool) dialRefusal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dials.refusal()
}

// connect records that the lane has a connection.
func (p *pool) connect(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.connected = true
	p.dials.succeed()
}

// disconnect records that the lane has no connection.
func (p *pool) disconnect(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.connected = false
}

// failDial counts a dial that began then and failed.
func (p *pool) failDial(began time.Time, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dials.fail(began, why)
}

// skip records that a lane could not connect. If another lane is connected, it takes the waiting
// commands. Otherwise skip returns them, as no lane can send them.
func (p *pool) skip(l *lane) (unsent []*Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.waiting) == 0:
	case !slices.ContainsFunc(p.all, (*lane).isConnected):
		unsent, p.waiting = p.waiting, nil
	default:
		l.skipped = true
		p.wake()
	}
	return unsent
}

// close refuses new commands, ends the idle lanes, and returns the waiting commands. ok is false if the
// pool was closed before.
func (p *pool) close() (waiting []*Command, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	p.closed = true
	waiting, p.waiting = p.waiting, nil
	for _, l := range p.idle {
		close(l.wake)
	}
	p.idle = nil
	return waiting, true
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// connections counts them, and their dials.
func (p *pool) connections() driver.Connections {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := driver.Connections{Waiting: len(p.waiting), Dials: p.dials.ended, DialFailures: p.dials.failed}
	for _, l := range p.all {
		if !l.connected {
			continue
		}
		c.Open++
		if !p.idle.contains(l) {
			c.Busy++
		}
	}
	return c
}
