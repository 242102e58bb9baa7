package semaphore_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/memlock"
	"github.com/lockscope/lockscope/lock/semaphore"
)

// TestOneNodeFails: k permits are given out, kept and given back, and never one more, while a node of three is dead, hangs,
// is read-only or has lost its data and is in quarantine.
func TestOneNodeFails(t *testing.T) {
	for name, fault := range map[string]func(*memlock.Node){
		"dead":      func(n *memlock.Node) { n.Deny(driver.ErrUnreachable) },
		"hung":      (*memlock.Node).Freeze,
		"read-only": func(n *memlock.Node) { n.Deny(driver.ErrDenied) },
		"empty": func(n *memlock.Node) { // and so in quarantine
			n.Forget()
			n.Deny(driver.ErrQuarantined)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3, 3)
				a, b := f.process("a"), f.process("b")
				first := f.acquire(a)
				fault(f.nodes[1])
				held := []*semaphore.Permit{first, f.acquire(a), f.acquire(b)}
				f.wantFree(0)
				got := make(chan *semaphore.Permit)
				go func() { got <- f.acquire(b) }()
				time.Sleep(time.Minute)
				f.release(held[0])
				began := time.Now()
				p := <-got
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("found after %v", took)
				}
				for _, p := range append(held[1:], p) {
					f.release(p)
				}
				time.Sleep(time.Second)
				f.wantFree(3)
			})
		})
	}
}

// TestOutage: without a quorum permits end before others could begin, and the callers that wait get theirs afterwards.
func TestOutage(t *testing.T) {
	eachServed(t, 3, 2, func(t *testing.T, f *fleet) {
		a, b := f.process("a"), f.process("b")
		held := f.fill(a)
		got := make(chan *semaphore.Permit)
		go func() { got <- f.acquire(b) }()
		time.Sleep(time.Second)
		f.nodes.NoQuorum()
		for _, p := range held {
			<-p.Context().Done()
			if p.Remaining() > 0 {
				t.Error("a permit ends with validity left")
			}
		}
		time.Sleep(time.Minute)
		f.nodes.Recover()
		f.release(<-got)
		time.Sleep(time.Minute)
		f.wantFree(2)
	})
}
