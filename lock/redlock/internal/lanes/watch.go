package lanes

import "time"

// watchOver makes the timer go off by the deadline. It expects the mutex to be held.
func (p *Lanes) watchOver(deadline time.Time) {
	if p.watch.IsZero() || deadline.Before(p.watch) {
		p.watch = deadline
		p.timer.Reset(time.Until(deadline))
	}
}

// expire answers the commands whose time is up.
func (p *Lanes) expire() {
	p.expiring.Lock()
	defer p.expiring.Unlock()
	now := time.Now()
	for _, c := range p.overdue(now) {
		c.expire()
	}
	p.cutBorrowed(now)
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		p.cutIdle()
	}
}

// overdue takes out the commands whose time is up, and sets the timer for the others.
func (p *Lanes) overdue(now time.Time) (due []*Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watch = time.Time{}
	kept := p.waiting[:0]
	for _, c := range p.waiting {
		if now.Before(c.Call.Deadline) {
			kept = append(kept, c)
			p.watchOver(c.Call.Deadline)
			continue
		}
		due = append(due, c)
	}
	clear(p.waiting[len(kept):])
	if p.waiting = kept; len(kept) > 0 && !p.rouse() {
		p.watchOver(now.Add(glance))
	}
	for _, l := range p.all {
		for _, c := range l.flight {
			switch {
			case c.answered:
			case now.Before(c.Call.Deadline):
				p.watchOver(c.Call.Deadline)
			default:
				c.answered = true
				due = append(due, c)
			}
		}
	}
	return due
}
