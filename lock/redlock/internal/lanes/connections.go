package lanes

import (
	"slices"

	"github.com/lockscope/lockscope/lock/driver"
)

// Connections counts them, and their dials.
func (p *Lanes) Connections() driver.Connections {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := driver.Connections{Waiting: len(p.waiting), Dials: p.dialled, DialFailures: p.dialFailures}
	for _, l := range p.all {
		if !l.joined {
			continue
		}
		c.Open++
		if !slices.Contains(p.idle, l) {
			c.Busy++
		}
	}
	return c
}
