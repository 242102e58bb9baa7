package locks

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/attempt"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/compare"
)

func TestVotesDoWhatTheCodeDoes(t *testing.T) { compare.Each(t, compareVotes) }

func compareVotes(c *compare.Code, seed uint64) {
	m := &Votes{TTL: 3}
	r := rand.New(rand.NewPCG(seed, 1))
	silenced := c.Guarded(0) // the server has no marker, and does not vote on these connections
	var node votesNode
	for a := range node.calls {
		// Something may always arrive, so that nothing settles.
		node.calls[a].lateExtend, node.calls[a].mayArrive = true, r.IntN(2) == 0
	}
	for i := range compare.Calls {
		a := r.IntN(votesAttempts)
		token := fmt.Sprint(a)
		var want, got any
		switch r.IntN(6) {
		case 0, 1:
			reply := c.Acquire(compare.Request(a))
			had := node.holder == uint8(a)+1
			if got, want = node.acquire(m, a), reply.Granted; !had && node.holder == uint8(a)+1 {
				node.calls[a].release = attempt.NotReleased // the model has no token twice
			}
		case 2:
			on := c.Node
			if r.IntN(3) == 0 {
				on, node.silent = silenced, 1
			}
			reply := c.Extend(on, driver.ExtendRequest{Key: "k", Token: token, TTL: compare.TTL, Refill: true})
			got, want = node.extend(m, a), reply == driver.ExtendDone
			node.silent = 0
		case 3:
			req := driver.ReleaseRequest{Key: "k", Token: token}
			if node.calls[a].mayArrive {
				req.Tombstone = time.Hour
			}
			c.Release(req)
			node.release(m, a)
		case 4:
			reply := c.Extend(c.Node, driver.ExtendRequest{Key: "k", Token: token, TTL: 3 * compare.TTL, Holder: "|done|",
				Rename: true, Final: true})
			got, want = node.keep(m, a, 8), reply == driver.ExtendDone
		case 5:
			time.Sleep(compare.Tick)
			node.tick()
		}
		held, holder := c.Held(), ""
		if node.holder > 0 {
			holder = fmt.Sprint(node.holder - 1)
		}
		if got != want || holder != held.Token {
			c.Fatalf("seed %d, call %d: the model says %v and %q, the code %v and %q", seed, i, got, holder, want,
				held.Token)
		}
	}
}
