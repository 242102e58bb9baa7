package spec

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// aboveClocks is where a server's counter begins: no clock lifts it from there.
const aboveClocks = uint64(7e15)

func TestSharedDoesWhatTheCodeDoes(t *testing.T) {
	for seed := range uint64(sequences) {
		onCode(t, func(c *code) { compareShared(c, seed) })
	}
}

// compareShared gives one node of the model and a server the same calls of three clients. Nobody is in the queue, so
// nobody is named: the model has no reservations.
func compareShared(c *code, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 5))
	m := &Shared{Modes: []string{"RRW", "RWW", "WRR"}[r.IntN(3)], TTLs: "333", Queues: true}
	mode := func(client int) driver.Mode {
		if m.writes(client) {
			return driver.Write
		}
		return driver.Read
	}
	c.server.SetCounter("k", aboveClocks)
	var node sharedNode
	for i := range calls {
		client := r.IntN(sharedClients)
		token, waiter := fmt.Sprint(client), fmt.Sprint("w", client)
		var got, want any
		what := r.IntN(6)
		switch what {
		case 0, 1:
			if node.has(m, client) {
				continue // the model has no call that is sent twice
			}
			reply := c.acquire(driver.AcquireRequest{Key: "k", Token: token, TTL: ticksTTL, Mode: mode(client),
				Bar: barOf(mode(client)), Waiter: driver.Waiter{ID: waiter}})
			granted := node.grant(m, &sharedState{}, client)
			if !granted && m.queues(client, 0) {
				node.queued |= 1 << client
			}
			got, want = fmt.Sprint(reply.Granted, counted(reply)), fmt.Sprint(granted, answered(&node, client, granted))
		case 2:
			reply := c.extend(c.node, driver.ExtendRequest{Key: "k", Token: token, TTL: ticksTTL, Refill: true,
				Fence: aboveClocks + uint64(node.counter), Mode: mode(client)})
			got, want = reply == driver.ExtendDone, node.extend(m, client, node.counter)
		case 3:
			c.release(driver.ReleaseRequest{Key: "k", Token: token, Mode: mode(client)})
			s := sharedState{nodes: [sharedNodes]sharedNode{node}}
			s.drop(m, client)
			node = s.nodes[0]
		case 4:
			c.must(c.node.Leave(c.Context(), driver.LeaveRequest{Key: "k", WaiterID: waiter, Handoff: tick,
				Mode: mode(client)}))
			node.queued &^= 1 << client
		case 5:
			time.Sleep(tick)
			node = m.tick(sharedState{nodes: [sharedNodes]sharedNode{node}}).nodes[0]
		}
		if got != want {
			c.Fatalf("seed %d, call %d: %s, client %d, call of kind %d: %v, in the model %v", seed, i, m.Modes, client, what,
				got, want)
		}
	}
}

func barOf(m driver.Mode) time.Duration {
	if m == driver.Write {
		return time.Hour
	}
	return 0
}

// counted is the counter of a grant, from where the server's began.
func counted(reply driver.AcquireReply) uint64 {
	if !reply.Granted {
		return 0
	}
	return reply.Counter - aboveClocks
}

func answered(n *sharedNode, client int, granted bool) uint64 {
	if !granted {
		return 0
	}
	return uint64(n.answers[client]) - 1
}
