package redlock

import (
	"slices"

	"github.com/lockscope/lockscope/lock/driver"
)

var _ driver.Connected = (*node)(nil)

// Connections implements driver.Connected.
func (n *node) Connections() driver.Connections { return n.lanes.connections() }

func (p *lanes) connections() driver.Connections {
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
