package compare

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
)

// How models and code are compared.
const (
	// Calls is how many calls a sequence has.
	Calls = 60
	// Tick is a tick of a model.
	Tick = time.Second
	// TTL is that of a key which is set some time before a tick and gone three ticks later.
	TTL = 3*Tick - Tick/2
	// Fingerprint is that of the configuration which the guards know.
	Fingerprint = "f"

	sequences = 300
)

// Code is a server in memory, and the way to it of a client that asks for no proof. It is for one goroutine.
type Code struct {
	*testing.T
	Server *locktest.FakeServer
	Node   *locktest.FakeNode
}

// Each runs a test once for each sequence of calls, each with a server of its own, in a bubble of fake time.
func Each(t *testing.T, test func(c *Code, seed uint64)) {
	t.Helper()
	for seed := range uint64(sequences) {
		synctest.Test(t, func(t *testing.T) {
			c := &Code{T: t, Server: locktest.NewFakeServer("a")}
			c.Node = c.Server.Connect(1, locktest.Faults{})
			t.Cleanup(func() {
				c.Must(c.Node.Close())
				c.Server.Close()
			})
			test(c, seed)
		})
	}
}

// Must ends the test at an error.
func (c *Code) Must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// Guarded is the way of a client whose clock is ahead, and whose connections know their server's process: it votes for
// them only by its marker.
func (c *Code) Guarded(ahead time.Duration) *locktest.FakeNode {
	began := time.Now()
	clock := func() time.Duration { return time.Since(began) }
	g := locktest.NewGuards(clock, TTL, true, Fingerprint)
	g.Wall = func() time.Time { return time.Now().Add(ahead) }
	node := c.Server.ConnectGuarded(1, locktest.Faults{}, g)
	c.Cleanup(func() { c.Must(node.Close()) })
	return node
}

// Request is an acquire of the key that the tests use.
func Request(token int) driver.AcquireRequest {
	return driver.AcquireRequest{Key: "k", Token: fmt.Sprint(token), TTL: TTL}
}

// Acquire is what the node answers; a tombstone is an answer.
func (c *Code) Acquire(req driver.AcquireRequest) driver.AcquireReply {
	reply, _ := c.Node.Acquire(c.Context(), req)
	return reply
}

// Extend is what a node answers.
func (c *Code) Extend(node *locktest.FakeNode, req driver.ExtendRequest) driver.ExtendReply {
	c.Helper()
	reply, err := node.Extend(c.Context(), req)
	c.Must(err)
	return reply
}

// Release gives a token back.
func (c *Code) Release(req driver.ReleaseRequest) {
	c.Helper()
	_, err := c.Node.Release(c.Context(), req)
	c.Must(err)
}

// Held is the lock that the server has; zero if it is free.
func (c *Code) Held() locktest.HeldLock {
	held, _ := c.Server.Lock("k")
	return held
}
