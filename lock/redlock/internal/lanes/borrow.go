package lanes

import "time"

// peekInterval is how often the pool checks whether callers that send their own commands still wait:
// notifications by their contexts would cost more. It checks for lanes that hang just as often.
const peekInterval = 5 * time.Millisecond

// submit accepts a command. If it returns a lane, the caller sends the command on it. ok is false if
// the pool is closed.
func (p *pool) submit(c *Command) (borrowed *lane, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false
	}
	p.alarm.by(c.Call.Deadline)
	if l := p.borrow(c); l != nil {
		p.alarm.by(l.began.Add(peekInterval))
		return l, true
	}
	p.waiting = append(p.waiting, c)
	if !p.rouse() {
		p.alarm.by(time.Now().Add(peekInterval)) // the busy lane may hang
	}
	return nil, true
}

// borrow returns a lane on which the caller sends its command itself: being woken by another goroutine
// takes longer than the server does. It returns nil if the caller has other work, or no connected lane
// is idle. It expects the mutex to be held.
func (p *pool) borrow(c *Command) *lane {
	l := p.idle.last()
	if l == nil || c.Call.Wait == nil || len(p.idle) < len(p.all) || len(p.waiting) > 0 || !p.lending {
		return nil
	}
	if l.conn == nil || !l.fresh() {
		return nil
	}
	p.takeIdle()
	c.written = true
	l.inFlight, l.borrowed, l.began = append(l.inFlight[:0], c), true, time.Now()
	return l
}

// endLoan reports whether the lane was cut while it was borrowed, which makes its connection useless.
func (p *pool) endLoan(l *lane) (wasCut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wasCut = l.isCut
	l.borrowed, l.isCut = false, false
	return wasCut
}

// giveBack makes a borrowed lane idle.
func (p *pool) giveBack(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		close(l.wake)
		return
	}
	p.putIdle(l)
	if len(p.waiting) > 0 {
		p.rouse()
	}
}

// cutBorrowed frees callers that no longer wait, or whose commands are answered.
func (p *pool) cutBorrowed(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.all {
		if !l.borrowed || len(l.inFlight) == 0 {
			continue
		}
		if c := l.inFlight[0]; c.answered || c.Call.Wait.Err() != nil {
			l.isCut = true
			l.cut()
			continue
		}
		p.alarm.by(now.Add(peekInterval))
	}
}
