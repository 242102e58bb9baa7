// Package lanes carries the commands of one node on a few sticky connections, each of which
// sends whatever has gathered meanwhile as one pipeline.
package lanes

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
)

// Lanes carry the commands of one node. Each is one connection, which sends whatever has
// gathered while all lanes were busy as one pipeline, and waits for all the replies. One
// that is not connected takes no command before it is: there may be another to take it.
// Nothing keeps an order between them: the engine has one command for a resource under
// way on a node at a time.
//
// A command is answered by its deadline, whatever its connection does: one that was not
// written by then is dropped, one that was may still be executed.
type Lanes struct {
	equipment
	cancel   context.CancelFunc // of dials
	pool     *pool
	carriers [maxLanes]*carrier // by the lane's index
	running  sync.WaitGroup
	expiring sync.Mutex // held while commands that ran out of time are answered
}

// New are the lanes of one node, which the guard knows.
func New(c *Connector, g *guard.Guard, s *scripts.Set) *Lanes {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Lanes{equipment: equipment{connector: c, guard: g, scripts: s, ctx: ctx}, cancel: cancel}
	p.pool = newPool(p.start, p.expire, !c.followsMaster())
	return p
}

// start runs a new lane. The pool has its mutex locked.
func (p *Lanes) start(l *lane) {
	c := &carrier{equipment: p.equipment, pool: p.pool, lane: l}
	p.carriers[l.index] = c
	p.running.Go(c.run)
}

// Submit takes a command over.
func (p *Lanes) Submit(c *Command) {
	borrowed, ok := p.pool.submit(c)
	switch {
	case !ok:
		c.refuse(driver.ErrClosed)
	case borrowed != nil:
		p.carriers[borrowed.index].carryBorrowed()
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

// cutIdle ends the connections on which nobody waits for an answer any more, and the dials
// if there is no other.
func (p *Lanes) cutIdle() {
	if busy := p.pool.cutIdle(); !busy {
		p.cancel()
	}
}

// Close refuses what is waiting, lets what is under way be answered, and ends the lanes.
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
	p.expiring.Lock() // until nobody is being answered any more
	defer p.expiring.Unlock()
}
