package lanes

import "time"

// peekInterval is how often the pool checks that callers which send their own commands
// still wait: notifications by their contexts would cost more. As often it checks that
// commands do not wait for a lane that hangs.
const peekInterval = 5 * time.Millisecond

// submit takes a command over. The caller is to send it on the lane that it borrows, if any.
// ok is false if the pool is closed.
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
		p.alarm.by(time.Now().Add(peekInterval)) // the lane that is waited for may hang
	}
	return nil, true
}

// borrow is a lane on which the command's caller sends it itself: being woken by another
// goroutine takes longer than the server does. It is nil if the caller does not only
// wait, or no connected lane is idle. It expects the mutex to be held.
func (p *pool) borrow(c *Command) *lane {
	l := p.idle.last()
	if l == nil || c.Call.Wait == nil || len(p.idle) < len(p.all) || len(p.waiting) > 0 || !p.lending {
		return nil
	}
	if l.conn == nil || !l.fresh() {
		return nil
	}
	p.idle.takeLast()
	c.written = true
	l.inFlight, l.borrowed, l.began = append(l.inFlight[:0], c), true, time.Now()
	return l
}

// endLoan reports that the lane was cut while it was borrowed: its connection is of no use
// any more.
func (p *pool) endLoan(l *lane) (wasCut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wasCut = l.isCut
	l.borrowed, l.isCut = false, false
	return wasCut
}

// giveBack makes a lane that was borrowed idle.
func (p *pool) giveBack(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		close(l.wake)
		return
	}
	p.idle.put(l)
	if len(p.waiting) > 0 {
		p.rouse()
	}
}

// cutBorrowed lets callers go on who wait no more, or whose commands are answered.
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
