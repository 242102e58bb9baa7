package lanes

import "time"

// borrow is a lane on which the command's caller sends it itself: being woken by another
// goroutine takes longer than the server does. It is nil if the caller does not only
// wait, or no connected lane is idle. It expects the mutex to be held.
func (p *Lanes) borrow(c *Command) *lane {
	n := len(p.idle)
	if c.Call.Wait == nil || n < len(p.all) || n == 0 || len(p.waiting) > 0 || p.connector.master != nil {
		return nil
	}
	l := p.idle[n-1]
	if l.conn == nil || !l.fresh() {
		return nil
	}
	p.idle = p.idle[:n-1]
	c.written = true
	l.flight, l.borrowed, l.began = append(l.flight[:0], c), true, time.Now()
	return l
}

func (p *Lanes) giveBack(l *lane) {
	p.mu.Lock()
	isCut := l.isCut
	l.borrowed, l.isCut = false, false
	p.mu.Unlock()
	if isCut {
		l.drop()
	}
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

// glance is how often callers that send their own commands are looked at: whether they
// still wait. Being told by their contexts would cost more than the look. As often it is
// seen to that commands do not wait for a lane that hangs.
const glance = 5 * time.Millisecond

// cutBorrowed lets callers go on who wait no more, or whose commands are answered.
func (p *Lanes) cutBorrowed(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.all {
		if !l.borrowed || len(l.flight) == 0 {
			continue
		}
		if c := l.flight[0]; c.answered || c.Call.Wait.Err() != nil {
			l.isCut = true
			l.cut()
			continue
		}
		p.watchOver(now.Add(glance))
	}
}
