package lock

import (
	"context"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

const (
	// maxArrears bounds the releases kept for a node that does not answer. Further
	// ones are dropped: their keys live out their TTL.
	maxArrears = 4096
	// The pauses between tries double from the first to the last.
	firstArrearsPause = 10 * time.Millisecond
	lastArrearsPause  = 100 * time.Millisecond
)

// arrears are the releases one node still owes an answer to. A node that was
// stopped carries out what its sockets hold when it goes on, acquires among it
// whose connections are long closed; it takes a release after that, not one
// before, to leave no key behind.
type arrears struct {
	mu     sync.Mutex
	due    []overdue
	paying bool // a worker is at it
}

// overdue is a release to be sent again until it is answered.
type overdue struct {
	ctx   context.Context // values only
	ts    tracers
	event NodeStart
	req   driver.ReleaseRequest
	said  func(driver.ReleaseReply) // told of the answer
	until time.Duration             // when it is pointless
}

// owe takes a release over from a seat.
func (m *member) owe(r *Engine, o overdue) {
	o.until = r.cfg.Clock() + r.tombstoneTTL()
	m.arrears.mu.Lock()
	defer m.arrears.mu.Unlock()
	if len(m.arrears.due) >= maxArrears {
		return
	}
	m.arrears.due = append(m.arrears.due, o)
	if !m.arrears.paying {
		m.arrears.paying = r.group.run(func() { m.pay(r) })
	}
}

// pay sends what is due, one at a time, until nothing is or the Redlock is closed.
func (m *member) pay(r *Engine) {
	pause := firstArrearsPause
	for {
		o, ok := m.arrears.next()
		if !ok {
			return
		}
		if r.cfg.Clock() < o.until {
			reply, err := m.release(r, o.ctx, o.ts, o.event, o.req)
			if err != nil {
				if !r.sleep(pause) {
					return
				}
				pause = min(2*pause, lastArrearsPause)
				continue
			}
			o.said(reply)
		}
		pause = firstArrearsPause
		m.arrears.drop()
	}
}

// next is the first in line; without one the worker is done.
func (a *arrears) next() (overdue, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.due) == 0 {
		a.paying = false
		return overdue{}, false
	}
	return a.due[0], true
}

func (a *arrears) drop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = a.due[1:]
}

// release sends one release within the node timeout.
func (m *member) release(r *Engine, ctx context.Context, ts tracers, e NodeStart, req driver.ReleaseRequest) (reply driver.ReleaseReply, err error) {
	ctx, cancel := r.within(ctx)
	defer cancel()
	err = m.call(ctx, ts, e, func(ctx context.Context) (Verdict, error) {
		reply, err = m.Release(ctx, req)
		return verdictOf(reply.Found == driver.FoundOwn), err
	})
	return reply, err
}
