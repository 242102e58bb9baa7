package netfault

import "sync"

// gate lets bytes pass while it is open. Make one with openGate.
type gate struct {
	mu   *sync.Mutex
	open *chan struct{} // closed while the gate is open
}

func openGate() gate {
	open := make(chan struct{})
	close(open)
	return gate{new(sync.Mutex), &open}
}

// opened returns a channel that is closed once the gate is open.
func (g gate) opened() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return *g.open
}

// shut and release do nothing to a gate that is as they want it.
func (g gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen() {
		*g.open = make(chan struct{})
	}
}

func (g gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen() {
		close(*g.open)
	}
}

func (g gate) isOpen() bool {
	select {
	case <-*g.open:
		return true
	default:
		return false
	}
}
