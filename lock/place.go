package lock

import (
	"sync"
	"sync/atomic"
	"time"
)

// places is what this process knows of the resources it is concerned with at the
// moment: nothing is kept for a resource nobody here waits for or holds.
type places struct {
	nodes int
	clock Clock

	mu        sync.Mutex
	byKey     map[string]*place
	contended map[string]time.Duration // lock key -> until when others are likely waiting
}

// maxContended bounds the memory of recent contention; forgetting costs one
// attempt that finds out.
const maxContended = 1024

func newPlaces(nodes int, clock Clock) *places {
	return &places{
		nodes: nodes, clock: clock,
		byKey:     make(map[string]*place),
		contended: make(map[string]time.Duration),
	}
}

// place is one resource's: the order of calls on each node, and the local queue.
type place struct {
	key   string
	lines []line // one a node
	wake  chan wakeUp

	users atomic.Int32 // acquires and leases concerned with it

	blocker atomic.Pointer[HeldError] // whom the caller that contends waits for

	// Guarded by places.mu.
	taken bool            // a caller of this process contends
	queue []chan struct{} // the others, first come first served
}

// wakeUp is a hint that an attempt is worth while.
type wakeUp struct {
	named bool // a release named this process's waiter
}

// enter makes the resource's place, or joins it. leave must follow.
func (p *places) enter(key string) *place {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.byKey[key]
	if !ok {
		at = &place{key: key, lines: make([]line, p.nodes), wake: make(chan wakeUp, 1)}
		idle := func() { p.forget(at) }
		for i := range at.lines {
			at.lines[i].idle = idle
		}
		p.byKey[key] = at
	}
	at.users.Add(1)
	return at
}

func (p *places) leave(at *place) {
	at.users.Add(-1)
	p.forget(at)
}

// forget drops the place once nobody uses it and its lines are empty: until then
// whoever comes next must keep their order.
func (p *places) forget(at *place) {
	if at.users.Load() != 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at.users.Load() != 0 || p.byKey[at.key] != at {
		return
	}
	for i := range at.lines {
		if at.lines[i].isBusy() {
			return
		}
	}
	delete(p.byKey, at.key)
}

// takeTurn lets the caller contend. If another caller of this process does
// already, it returns a channel that is closed when the turn has come.
func (p *places) takeTurn(at *place) (turn chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !at.taken {
		at.taken = true
		return nil
	}
	turn = make(chan struct{})
	at.queue = append(at.queue, turn)
	return turn
}

// passTurn lets the next local caller contend.
func (p *places) passTurn(at *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(at.queue) == 0 {
		at.taken = false
		return
	}
	next := at.queue[0]
	at.queue = at.queue[1:]
	close(next)
}

// giveUpTurn leaves the local queue; a turn that came meanwhile is passed on.
func (p *places) giveUpTurn(at *place, turn chan struct{}) {
	p.mu.Lock()
	for i, t := range at.queue {
		if t == turn {
			at.queue = append(at.queue[:i], at.queue[i+1:]...)
			p.mu.Unlock()
			return
		}
	}
	p.mu.Unlock()
	p.passTurn(at)
}

// ahead is how many callers of this process contend or queue before turn.
func (p *places) ahead(at *place, turn chan struct{}) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, t := range at.queue {
		if t == turn {
			return i + 1
		}
	}
	return 0
}

// wakeUp tells whoever contends for the lock key, or everybody for "". It
// reports whether anybody does.
func (p *places) wakeUp(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key != "" {
		at, ok := p.byKey[key]
		if !ok || !at.taken {
			return false
		}
		at.signal(wakeUp{named: true})
		return true
	}
	for _, at := range p.byKey {
		at.signal(wakeUp{})
	}
	return true
}

// signal never blocks; being named outweighs any other reason to wake up.
func (at *place) signal(w wakeUp) {
	select {
	case at.wake <- w:
		return
	default:
	}
	if w.named {
		select {
		case <-at.wake:
		default:
		}
		select {
		case at.wake <- w:
		default:
		}
	}
}

// markContended remembers that others were waiting for the lock when it was
// released, so that this process queues up behind them instead of barging in.
func (p *places) markContended(key string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.contended) >= maxContended {
		clear(p.contended)
	}
	p.contended[key] = p.clock() + d
}

func (p *places) isContended(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, ok := p.contended[key]
	if ok && until < p.clock() {
		delete(p.contended, key)
		return false
	}
	return ok
}
