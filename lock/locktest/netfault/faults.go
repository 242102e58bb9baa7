package netfault

import (
	"sync"
	"time"
)

// faults is what is currently wrong with the network. It is shared by all connections of a proxy.
type faults struct {
	mu           sync.Mutex
	delay        time.Duration
	dropToServer bool
	dropToClient bool
	refuse       bool
	most         int   // connections at a time; 0 for any number
	flow         gate  // for client bytes
	record       *tape // nil while nothing is recorded
}

func newFaults() *faults { return &faults{flow: openGate()} }

// set changes something under the lock.
func (f *faults) set(change func(*faults)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *faults) tape() *tape {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.record
}

func (f *faults) refusing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refuse
}

func (f *faults) limit() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.most
}

// direction is one of the two ways through a connection.
type direction int

const (
	toServer direction = iota
	toClient
)

// onArrival decides the fate of bytes that have just been read.
func (f *faults) onArrival(d direction) (delay time.Duration, drop bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d == toServer {
		return f.delay, f.dropToServer
	}
	return f.delay, f.dropToClient
}

// gate returns a channel that is closed once client bytes may leave.
func (f *faults) gate() <-chan struct{} { return f.flow.opened() }
