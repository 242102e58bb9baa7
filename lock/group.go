package lock

import "sync"

// maxIdleWorkers is how many goroutines a group keeps for later. A goroutine that
// has called into go-redis once has a stack deep enough for the next call; growing
// it each time costs a fifth of an acquire.
const maxIdleWorkers = 64

// group owns goroutines: it runs calls on them until it is closed, and close waits
// for every one of them.
type group struct {
	calls chan func() // unbuffered: only an idle worker receives
	quit  chan struct{}

	mu     sync.Mutex
	closed bool
	idle   int
	wg     sync.WaitGroup
}

func newGroup() *group {
	return &group{calls: make(chan func()), quit: make(chan struct{})}
}

// run starts call on a worker unless the group is closed. It reports whether it did.
func (g *group) run(call func()) bool {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return false
	}
	if g.idle > 0 {
		g.idle--
		g.mu.Unlock()
		g.calls <- call // an idle worker waits for it, or is about to
		return true
	}
	g.wg.Add(1)
	g.mu.Unlock()
	go g.work(call)
	return true
}

// work runs calls as long as there are any and the worker is worth keeping.
func (g *group) work(call func()) {
	defer g.wg.Done()
	for {
		call()
		g.mu.Lock()
		if g.closed || g.idle >= maxIdleWorkers {
			g.mu.Unlock()
			return
		}
		g.idle++
		g.mu.Unlock()
		if call = g.next(); call == nil {
			return
		}
	}
}

// next waits for a call that run promised to an idle worker; nil when closed.
func (g *group) next() func() {
	select {
	case call := <-g.calls:
		return call
	case <-g.quit:
	}
	g.mu.Lock()
	if g.idle > 0 {
		g.idle--
		g.mu.Unlock()
		return nil
	}
	g.mu.Unlock()
	return <-g.calls // every worker still waiting was promised one
}

// close lets no more start and waits for those that run. It may be called once.
func (g *group) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	close(g.quit)
	g.wg.Wait()
}
