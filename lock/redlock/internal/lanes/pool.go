package lanes

import (
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const (
	// maxLanes is how many connections a node has at most. Commands gather while one is
	// busy: more connections mean more system calls for the same work. Only where a reply
	// takes longer than a server nearby needs is another one used, and a second where there
	// is much to do.
	maxLanes = 4
	overlap  = 16
	// maxBatch bounds one pipeline, and so what one answer that does not come takes
	// down with it.
	maxBatch = 128
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
	dials   dialRecord
	waiting []*Command // for a lane to take
}

func newPool(start func(*lane), ring func(), lending bool) *pool {
	return &pool{start: start, lending: lending, alarm: newAlarm(ring)}
}

// await returns once something is waiting, false if the pool is closed.
func (p *pool) await(l *lane) bool {
	p.mu.Lock()
	if p.closed || len(p.waiting) > 0 && !l.skipped {
		defer p.mu.Unlock()
		return !p.closed
	}
	l.skipped = false
	p.idle.put(l)
	p.mu.Unlock()
	_, ok := <-l.wake
	return ok
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

// complete says that nothing is under way on the lane any more, and returns those commands
// that nobody has answered.
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

// rouse makes an idle lane take what is waiting, or a new one, and reports whether it did.
// It expects the mutex to be held.
func (p *pool) rouse() bool {
	switch {
	case !p.slow():
		return false
	case p.wake():
		return true
	case len(p.all) == maxLanes:
		return false
	}
	l := &lane{index: len(p.all), wake: make(chan struct{}, 1), began: time.Now()}
	p.all = append(p.all, l)
	p.start(l)
	return true
}

// slow reports that another lane is of use: none that is busy can be expected to be done
// soon, or one can, and enough has gathered for the server to work on while the answers of
// that one are dealt with. It expects the mutex to be held.
func (p *pool) slow() bool {
	now, busy, soon := time.Now(), 0, 0
	for _, l := range p.all {
		if p.idle.contains(l) {
			continue
		}
		busy++
		if now.Sub(l.began) < l.usual() {
			soon++
		}
	}
	return soon == 0 || busy == 1 && len(p.waiting) >= overlap
}

// wake makes an idle lane go on. It expects the mutex to be held.
func (p *pool) wake() bool {
	l := p.idle.last()
	if l == nil {
		return false
	}
	p.idle.takeLast()
	l.began = time.Now()
	l.wake <- struct{}{} // it has room for one, and gets one for being idle
	return true
}

// dialRefusal is why a lane had better not dial right now; nil if it may.
func (p *pool) dialRefusal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dials.refusal()
}

// connect says that the lane has a connection.
func (p *pool) connect(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.connected = true
	p.dials.end(nil)
}

// disconnect says that the lane has none any more.
func (p *pool) disconnect(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.connected = false
}

// failDial counts a dial of the lane that failed.
func (p *pool) failDial(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dials.end(why)
}

// skip says that a lane could not connect. If another one is connected, it takes what is
// waiting; else that is returned, for nobody can send it.
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

// close lets nothing more in, ends the idle lanes, and returns what is waiting. ok is false
// if it was closed before.
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
