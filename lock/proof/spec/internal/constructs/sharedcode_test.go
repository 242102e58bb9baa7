package constructs

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/compare"
)

// aboveClocks is where a server's counter begins: no clock lifts it from there.
const aboveClocks = uint64(7e15)

func TestSharedDoesWhatTheCodeDoes(t *testing.T) { compare.Each(t, compareShared) }

// compareShared gives one node of the model and a server the same calls of three clients. Nobody is in the queue, so
// nobody is named: the model has no reservations.
func compareShared(c *compare.Code, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 5))
	m := &Shared{Modes: []string{"RRW", "RWW", "WRR"}[r.IntN(3)], TTLs: "333", Queues: true}
	mode := func(client int) driver.Mode {
		if m.writes(client) {
			return driver.Write
		}
		return driver.Read
	}
	c.Server.SetCounter("k", aboveClocks)
	var node sharedNode
	for i := range compare.Calls {
		client := r.IntN(sharedClients)
		token, waiter := fmt.Sprint(client), fmt.Sprint("w", client)
		var got, want any
		what := r.IntN(7)
		switch what {
		case 0, 1:
			if node.has(m, client) {
				continue // the model has no call that is sent twice
			}
			reply := c.Acquire(driver.AcquireRequest{Key: "k", Token: token, TTL: compare.TTL, Mode: mode(client),
				Bar: barOf(mode(client)), Waiter: driver.Waiter{ID: waiter}})
			granted := node.grant(m, &sharedState{}, client)
			if !granted && m.queues(client, 0) {
				node.queued |= 1 << client
			}
			got, want = fmt.Sprint(reply.Granted, counted(reply)), fmt.Sprint(granted, answered(&node, client, granted))
		case 2:
			reply, err := c.Node.Extend(c.Context(), driver.ExtendRequest{Key: "k", Token: token, TTL: compare.TTL, Refill: true,
				Fence: aboveClocks + uint64(node.counter), Mode: mode(client)})
			if _, revoked := errors.AsType[*driver.RevokedError](err); !revoked {
				c.Must(err)
			}
			got, want = err == nil && reply == driver.ExtendDone, node.extend(m, client, node.counter)
		case 3:
			c.Release(driver.ReleaseRequest{Key: "k", Token: token, Mode: mode(client)})
			s := sharedState{nodes: [sharedNodes]sharedNode{node}}
			s.drop(m, client)
			node = s.nodes[0]
		case 4:
			c.Must(c.Node.Leave(c.Context(), driver.LeaveRequest{Key: "k", WaiterID: waiter, Handoff: compare.Tick,
				Mode: mode(client)}))
			node.queued &^= 1 << client
		case 5:
			time.Sleep(compare.Tick)
			node = m.tick(sharedState{nodes: [sharedNodes]sharedNode{node}}).nodes[0]
		case 6:
			if m.writes(client) || r.IntN(4) > 0 {
				continue // marks stay, so they are rare
			}
			got = lastsOf(c, token)
			node.mark(1 << client)
			want = node.lasts[client]
		}
		if got != want {
			c.Fatalf("seed %d, call %d: %s, client %d, call of kind %d: %v, in the model %v", seed, i, m.Modes, client, what,
				got, want)
		}
	}
}

// lastsOf marks a reader, and is how many ticks it has left.
func lastsOf(c *compare.Code, token string) uint8 {
	reply, err := c.Node.Revoke(c.Context(), driver.RevokeRequest{Key: "k", Readers: []string{driver.GrantOf(token)},
		Record: "why", Keep: time.Hour})
	c.Must(err)
	for _, reader := range reply.Readers {
		if reader.Grant == driver.GrantOf(token) && reader.Record == "why" {
			return uint8((reader.TTL + compare.Tick/2) / compare.Tick)
		}
	}
	c.Fatal("the reader is not marked")
	return 0
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
