package redlock

import (
	"slices"
	"time"
)

// putIdle expects the mutex to be held.
func (p *lanes) putIdle(l *lane) {
	if l.conn != nil {
		p.idle = append(p.idle, l)
	} else {
		p.idle = slices.Insert(p.idle, 0, l)
	}
}

// slow reports that another lane is of use: every one that is busy has been so for longer
// than a server nearby takes, or one is, and enough has gathered for the server to work on
// while the answers of the first are dealt with. It expects the mutex to be held.
func (p *lanes) slow() bool {
	busy := len(p.all) - len(p.idle)
	if busy == 0 || busy == 1 && len(p.waiting) >= overlap {
		return true
	}
	now := time.Now()
	for _, l := range p.all {
		if !slices.Contains(p.idle, l) && now.Sub(l.began) < nearby+time.Duration(len(l.flight))*perCommand {
			return false
		}
	}
	return true
}

// rouse makes an idle lane take what is waiting, or a new one. It expects the mutex to be
// held.
func (p *lanes) rouse() {
	if !p.slow() || p.wake() {
		return
	}
	if len(p.all) < maxLanes {
		l := &lane{lanes: p, wake: make(chan struct{}, 1), began: time.Now()}
		p.all = append(p.all, l)
		p.running.Go(l.run)
	}
}

// wake makes an idle lane go on. It expects the mutex to be held.
func (p *lanes) wake() bool {
	n := len(p.idle)
	if n == 0 {
		return false
	}
	l := p.idle[n-1]
	p.idle = p.idle[:n-1]
	l.began = time.Now()
	l.wake <- struct{}{} // it has room for one, and is told once for being idle
	return true
}

// await returns once something is waiting, false if the lanes are closed.
func (p *lanes) await(l *lane) bool {
	p.mu.Lock()
	if p.closed || len(p.waiting) > 0 && !l.spared {
		defer p.mu.Unlock()
		return !p.closed
	}
	l.spared = false
	p.putIdle(l)
	p.mu.Unlock()
	_, ok := <-l.wake
	return ok
}

// join counts a lane that has connected.
func (p *lanes) join() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connected++
}

// part counts a lane that has lost its connection.
func (p *lanes) part() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.connected--
}

// reconnectPause is how long a dial that failed speaks for the next.
const reconnectPause = time.Millisecond

// mayDial is why a lane had better not dial right now; nil if it may.
func (p *lanes) mayDial() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.failed) < reconnectPause {
		return p.failure
	}
	return nil
}

// inVain says that a lane could not connect. If no other is connected, what is waiting is
// refused.
func (p *lanes) inVain(l *lane, why error, dialled bool) {
	p.mu.Lock()
	if dialled {
		p.failed, p.failure = time.Now(), why
	}
	var refused []*command
	switch {
	case len(p.waiting) == 0:
	case p.connected == 0:
		refused, p.waiting = p.waiting, nil
	default:
		l.spared = true
		p.wake()
	}
	p.mu.Unlock()
	for _, c := range refused {
		c.refuse(why)
	}
}
