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
	flow         chan struct{} // closed while client bytes may pass
}

func newFaults() *faults {
	f := &faults{flow: make(chan struct{})}
	close(f.flow)
	return f
}

// set changes something under the lock.
func (f *faults) set(change func(*faults)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// hold, release and flowing are called under the lock.
func (f *faults) hold() {
	if f.flowing() {
		f.flow = make(chan struct{})
	}
}

func (f *faults) release() {
	if !f.flowing() {
		close(f.flow)
	}
}

func (f *faults) flowing() bool {
	select {
	case <-f.flow:
		return true
	default:
		return false
	}
}

func (f *faults) refusing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refuse
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
func (f *faults) gate() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.flow
}
