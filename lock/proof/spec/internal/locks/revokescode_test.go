package locks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/compare"
)

func TestRevokesDoWhatTheCodeDoes(t *testing.T) { compare.Each(t, compareRevokes) }

// compareRevokes gives one node of the model and a server the same calls of three clients, and marks of their tokens.
func compareRevokes(c *compare.Code, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 6))
	m := &Revokes{TTL: 3}
	var node revokesNode
	for i := range compare.Calls {
		client := r.IntN(revokesClients)
		token := fmt.Sprint(client)
		var got, want any
		what := r.IntN(6)
		switch what {
		case 0, 1:
			if int(node.holder) == client+1 {
				continue // the model has no call that is sent twice
			}
			got, want = node.acquire(m, client), c.Acquire(compare.Request(client)).Granted
			node.granted = 0
		case 2:
			reply, err := c.Node.Extend(c.Context(), driver.ExtendRequest{Key: "k", Token: token,
				TTL: compare.TTL, Refill: true})
			if _, revoked := errors.AsType[*driver.RevokedError](err); err != nil && !revoked {
				c.Fatal(err)
			}
			got, want = node.extend(m, client, false), err == nil && reply == driver.ExtendDone
		case 3:
			c.Release(driver.ReleaseRequest{Key: "k", Token: token})
			if int(node.holder) == client+1 {
				node.holder, node.ttl = 0, 0
			}
		case 4:
			reply, err := c.Node.Revoke(c.Context(), driver.RevokeRequest{Key: "k", Grant: driver.GrantOf(token), Record: "why",
				Keep: time.Duration(m.keep())*compare.Tick - compare.Tick/2})
			c.Must(err)
			ttl := reply.TTL
			if reply.Grant != driver.GrantOf(token) {
				ttl = 0
			}
			got, want = node.mark(m, client, false), uint8((ttl+compare.Tick/2)/compare.Tick)
		case 5:
			time.Sleep(compare.Tick)
			node.tick(m)
		}
		held, holder := c.Held(), ""
		if node.holder > 0 {
			holder = fmt.Sprint(node.holder - 1)
		}
		if got != want || holder != held.Token {
			c.Fatalf("seed %d, call %d of kind %d: the model says %v and %q, the code %v and %q", seed, i, what, got, holder,
				want, held.Token)
		}
	}
}
