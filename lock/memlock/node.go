package memlock

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/internal/memstate"
)

// Nodes is the nodes of one or more lockers.
type Nodes []*Node

// NewNodes returns n nodes without locks, named mem1, mem2 and so on.
func NewNodes(n int) Nodes {
	var nodes Nodes
	for i := range n {
		nodes = append(nodes, &Node{
			name: "mem" + strconv.Itoa(i+1), state: memstate.New(), links: make(map[*link]struct{}),
		})
	}
	return nodes
}

// NoQuorum takes a majority of the nodes down. No lock is granted, and leases are lost when their
// validity ends.
func (nodes Nodes) NoQuorum() {
	for _, n := range nodes[len(nodes)-len(nodes)/2-1:] {
		n.Deny(fmt.Errorf("%w: taken down by NoQuorum: call Recover", driver.ErrUnreachable))
	}
}

// Recover ends the faults of all nodes. What Forget erased stays lost.
func (nodes Nodes) Recover() {
	for _, n := range nodes {
		n.Deny(nil)
		n.Delay(0)
		n.Thaw()
	}
}

// Semaphores is what nodes do for semaphores. Drivers differ in it.
type Semaphores int

// What nodes do for semaphores.
const (
	OneQueue  Semaphores = iota // they know the number of slots, and have one queue for all, as those of package redlock do
	EachQueue                   // they know the number, and have a queue for each slot, as PostgreSQL and etcd do
	NoSlots                     // they take slots for locks
)

// Serve decides what the nodes do for semaphores. Call it before New.
func (nodes Nodes) Serve(s Semaphores) {
	for _, n := range nodes {
		n.mu.Lock()
		n.semaphores = s
		n.mu.Unlock()
	}
}

// Node is a server in memory. It is safe for concurrent use.
type Node struct {
	name string

	mu         sync.Mutex
	state      *memstate.State
	semaphores Semaphores
	links      map[*link]struct{}
	denial     error
	delay      time.Duration
	frozen     chan struct{}             // closed by Thaw; nil while the node runs
	backlog    []func(*memstate.Instant) // commands that arrived while frozen and whose callers gave up
}

// Name returns the node's name in errors and traces.
func (n *Node) Name() string { return n.name }

// Deny makes every command fail with err and without effect, until Deny(nil). Wrap an error of
// package driver to choose the class of the failure.
func (n *Node) Deny(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.denial = err
}

// Delay delays every answer by d. Commands take effect before the delay, even if their callers give up.
func (n *Node) Delay(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delay = d
}

// Freeze stops the node, as SIGSTOP stops a server: commands pile up, and locks keep expiring. A
// second Freeze does nothing.
func (n *Node) Freeze() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.frozen == nil {
		n.frozen = make(chan struct{})
	}
}

// Thaw resumes a frozen node. The commands that piled up take effect first, in order.
func (n *Node) Thaw() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.frozen == nil {
		return
	}
	for _, do := range n.backlog {
		n.run(do)
	}
	close(n.frozen)
	n.frozen, n.backlog = nil, nil
}

// Forget erases the node's data, as a restart without persistence does.
func (n *Node) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state = memstate.New()
}

// execute runs do on the node and waits for the answer until ctx ends.
func (n *Node) execute(ctx context.Context, do func(*memstate.Instant)) error {
	n.mu.Lock()
	for n.frozen != nil && n.denial == nil {
		thawed := n.frozen
		n.mu.Unlock()
		select {
		case <-thawed:
			n.mu.Lock()
		case <-ctx.Done():
			n.arriveLate(do)
			return memstate.Timeout(ctx)
		}
	}
	if err := n.denial; err != nil {
		n.mu.Unlock()
		return err
	}
	n.run(do)
	delay := n.delay
	n.mu.Unlock()
	if delay <= 0 {
		return nil // also if ctx has ended by now
	}
	return memstate.Wait(ctx, delay)
}

// arriveLate runs a command whose caller has given up.
func (n *Node) arriveLate(do func(*memstate.Instant)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.frozen == nil {
		n.run(do)
		return
	}
	n.backlog = append(n.backlog, do)
}

// run expects the mutex to be held.
func (n *Node) run(do func(*memstate.Instant)) {
	do(n.state.At(time.Now().UnixMicro(), n.publish))
}

// publish notifies a waiter that it was named. The mutex is held.
func (n *Node) publish(waiter, key string) (listeners int) {
	for l := range n.links {
		if l.tell(waiter, key) {
			listeners++
		}
	}
	return listeners
}

// lose deletes the lock of a key, with a tombstone for its token, and all readers of it.
func (n *Node) lose(key string, ttl time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.run(func(s *memstate.Instant) {
		if held, ok := s.Locks[key]; ok {
			s.Release(driver.ReleaseRequest{Key: key, Token: held.Token, Tombstone: ttl})
		}
		for _, token := range s.Readers(key) {
			s.Release(driver.ReleaseRequest{Key: key, Token: token, Tombstone: ttl, Mode: driver.Read})
		}
	})
}
