package lock

import "testing"

// A go-redis hook of the caller's client runs inside the call, and the caller may recover its panic.
func TestALineOutlivesACallThatPanics(t *testing.T) {
	g := newWorkers()
	defer g.close()
	idle := make(chan struct{}, 2)
	l := &callQueue{idle: func() { idle <- struct{}{} }}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not get through")
			}
		}()
		l.doHere(g, func() {
			l.do(g, func() {}) // somebody queues up meanwhile
			panic("hook")
		})
	}()
	<-idle
	if l.isBusy() {
		t.Error("the line is still taken")
	}
}
