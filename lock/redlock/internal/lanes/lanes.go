// Package lanes sends the commands of one node on a few sticky connections. Each sends the commands
// that have gathered meanwhile as one pipeline.
package lanes

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

// Lanes sends the commands of one node. Each lane is one connection. It sends the commands that
// gathered while all lanes were busy as one pipeline, and waits for all the replies. A lane takes no
// command before it is connected, since another lane may take it. There is no order between lanes:
// the engine has one command for a resource under way on a node at a time.
//
// Every command is answered by its deadline, whatever its connection does. A command that was not
// written by then is dropped; one that was written may still be executed.
type Lanes struct {
	equipment
	cancel   context.CancelFunc // of dials
	pool     *pool
	running  sync.WaitGroup
	expiring sync.Mutex // held while commands that ran out of time are answered
}

// New returns the lanes of the guard's node.
func New(c *Connector, g *guard.Guard, s *scripts.Set) *Lanes {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Lanes{equipment: equipment{connector: c, guard: g, scripts: s, ctx: ctx}, cancel: cancel}
	p.pool = newPool(p.start, p.expire, !c.followsMaster())
	return p
}

// start runs a new lane. The pool has its mutex locked.
func (p *Lanes) start(l *lane) {
	l.carrier = &carrier{equipment: p.equipment, pool: p.pool, lane: l}
	p.running.Go(l.carrier.run)
}

// Submit accepts a command, and answers it by its deadline.
func (p *Lanes) Submit(c *Command) {
	borrowed, ok := p.pool.submit(c)
	switch {
	case !ok:
		c.refuse(driver.ErrClosed)
	case borrowed != nil:
		borrowed.carrier.carryBorrowed()
	}
}

// Connections counts them, and their dials.
func (p *Lanes) Connections() driver.Connections { return p.pool.connections() }

// expire answers the commands whose time is up.
func (p *Lanes) expire() {
	p.expiring.Lock()
	defer p.expiring.Unlock()
	now := time.Now()
	for _, c := range p.pool.overdue(now) {
		c.expire()
	}
	p.pool.cutBorrowed(now)
	if p.pool.isClosed() {
		p.cutIdle()
	}
}

// cutIdle closes the connections without a command that waits for an answer, and cancels the dials if no other is
// left.
func (p *Lanes) cutIdle() {
	if busy := p.pool.cutIdle(); !busy {
		p.cancel()
	}
}

// Close refuses waiting commands, waits until those under way are answered, and ends the lanes.
func (p *Lanes) Close() {
	waiting, ok := p.pool.close()
	if !ok {
		return
	}
	for _, c := range waiting {
		c.refuse(driver.ErrClosed)
	}
	p.cutIdle()
	p.running.Wait()
	p.cancel()
	p.pool.alarm.stop()
	p.expiring.Lock() // until all answers are given
	defer p.expiring.Unlock()
}
