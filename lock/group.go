package lock

import "sync"

// group owns goroutines: it starts them until it is closed, and close waits for
// every one of them.
type group struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// run starts f unless the group is closed. It reports whether it did.
func (g *group) run(f func()) bool {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return false
	}
	g.wg.Add(1)
	g.mu.Unlock()
	go func() {
		defer g.wg.Done()
		f()
	}()
	return true
}

// close lets no more start and waits for those that run.
func (g *group) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.wg.Wait()
}
