package lanes

import (
	"slices"
	"time"
)

// overdue removes and returns the commands whose deadline has passed, and sets the alarm for the others.
func (p *pool) overdue(now time.Time) (due []*Command) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alarm.rang()
	kept := p.waiting[:0]
	for _, c := range p.waiting {
		if now.Before(c.Call.Deadline) {
			kept = append(kept, c)
			p.alarm.by(c.Call.Deadline)
			continue
		}
		due = append(due, c)
	}
	clear(p.waiting[len(kept):])
	if p.waiting = kept; len(kept) > 0 && !p.rouse() {
		p.alarm.by(now.Add(peekInterval))
	}
	for _, l := range p.all {
		for _, c := range l.inFlight {
			switch {
			case c.answered:
			case now.Before(c.Call.Deadline):
				p.alarm.by(c.Call.Deadline)
			default:
				c.answered = true
				due = append(due, c)
			}
		}
	}
	return due
}

// cutIdle closes the connections without a command that waits for an answer, and reports whether any other is
// left.
func (p *pool) cutIdle() (busy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.all {
		waited := slices.ContainsFunc(l.inFlight, func(c *Command) bool { return !c.answered })
		if !waited {
			l.cut()
		}
		busy = busy || waited
	}
	return busy
}
