package locks

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/compare"
)

func TestFencesDoWhatTheCodeDoes(t *testing.T) { compare.Each(t, compareFences) }

func compareFences(c *compare.Code, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	m := &Fences{Attempts: fenceAttempts, Run: 1 + r.IntN(3)}
	// Its clock is so young that counters begin at one.
	c.Server.StepClock(time.Until(time.UnixMicro(1e7)))
	var node fenceNode
	for i := range compare.Calls {
		a := r.IntN(fenceAttempts)
		token := fmt.Sprint(a)
		var want, got any
		switch r.IntN(4) {
		case 0, 1:
			req := compare.Request(a)
			req.Run = uint64(m.Run)
			reply := c.Acquire(req)
			first, last := m.acquire(&node, a, 0)
			got, want = [2]uint8{first, last}, [2]uint8{uint8(reply.Counter),
				uint8(reply.Counter + max(reply.Run, 1) - 1)}
			if !reply.Granted {
				want = [2]uint8{}
			}
		case 2:
			to := node.counter + uint8(r.IntN(3))
			node.calls[a].first = node.grant - uint8(r.IntN(int(node.grant)+1)&1)
			want = raise(c, driver.RaiseRequest{Key: "k", Token: token, Counter: uint64(node.calls[a].first),
				Fence: uint64(to)})
			may := m.mayRaise(&node, a)
			if got = may; may {
				node.counter = max(node.counter, to)
			}
		case 3:
			if node.holder != 0 {
				c.Release(driver.ReleaseRequest{Key: "k", Token: fmt.Sprint(node.holder - 1)})
				node.holder, node.grant = 0, 0
			} else if node.counter < 200 {
				fence, last := node.counter+1, node.counter+1+uint8(r.IntN(3))
				c.Extend(c.Node, driver.ExtendRequest{Key: "k", Token: token, TTL: time.Hour, Refill: true,
					Fence: uint64(fence), Last: uint64(last)})
				node.refill(a, fence, last)
			}
		}
		counter, held := c.Server.Counter("k"), c.Held()
		if got != want || uint64(node.counter) != counter || uint64(node.grant) != held.Counter {
			c.Fatalf("seed %d, call %d: the model says %v, %d, %d; the code %v, %d, %v",
				seed, i, got, node.counter, node.grant, want, counter, held)
		}
	}
}

func raise(c *compare.Code, req driver.RaiseRequest) bool {
	c.Helper()
	raised, err := c.Node.Raise(c.Context(), req)
	c.Must(err)
	return raised
}
