package spec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// These tests tie the models to the code: what a node does in a model, it does on a [locktest.FakeServer], of which
// package locktest tests that it does what the scripts do on a server.

const (
	sequences = 300
	calls     = 60
	tick      = time.Second
	// A key is set some time before a tick and not there any more so many ticks later.
	ticksTTL = 3*tick - tick/2
	// Of the configuration that the guards of these tests know.
	fingerprint = "f"
)

// code is a server in memory, and the way to it of a client that asks for no proof.
type code struct {
	*testing.T
	server *locktest.FakeServer
	node   *locktest.FakeNode
}

// onCode runs a test with a server of its own, in a bubble of fake time.
func onCode(t *testing.T, test func(c *code)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &code{T: t, server: locktest.NewFakeServer("a")}
		c.node = c.server.Connect(1, locktest.Faults{})
		t.Cleanup(func() {
			c.must(c.node.Close())
			c.server.Close()
		})
		test(c)
	})
}

func (c *code) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// guarded is the way of a client whose clock is ahead, and whose connections know their server's process: it votes for
// them only by its marker.
func (c *code) guarded(ahead time.Duration) *locktest.FakeNode {
	began := time.Now()
	clock := func() time.Duration { return time.Since(began) }
	g := locktest.NewGuards(clock, ticksTTL, true, fingerprint)
	g.Wall = func() time.Time { return time.Now().Add(ahead) }
	node := c.server.ConnectGuarded(1, locktest.Faults{}, g)
	c.Cleanup(func() { c.must(node.Close()) })
	return node
}

// acquire is what the node answers; a tombstone is an answer.
func (c *code) acquire(req driver.AcquireRequest) driver.AcquireReply {
	reply, _ := c.node.Acquire(c.Context(), req)
	return reply
}

func (c *code) extend(node *locktest.FakeNode, req driver.ExtendRequest) driver.ExtendReply {
	c.Helper()
	reply, err := node.Extend(c.Context(), req)
	c.must(err)
	return reply
}

func (c *code) raise(req driver.RaiseRequest) bool {
	c.Helper()
	raised, err := c.node.Raise(c.Context(), req)
	c.must(err)
	return raised
}

func (c *code) release(req driver.ReleaseRequest) {
	c.Helper()
	_, err := c.node.Release(c.Context(), req)
	c.must(err)
}

func (c *code) held() locktest.HeldLock {
	held, _ := c.server.Lock("k")
	return held
}

// votes reports that the server votes on the connections of a guarded node: only then it takes a key back.
func (c *code) votes(guarded *locktest.FakeNode) bool {
	c.Helper()
	const key, token = "vote", "v"
	reply := c.extend(guarded, driver.ExtendRequest{Key: key, Token: token, TTL: time.Hour, Refill: true})
	c.release(driver.ReleaseRequest{Key: key, Token: token})
	return reply == driver.ExtendRefilled
}

func request(token int) driver.AcquireRequest {
	return driver.AcquireRequest{Key: "k", Token: fmt.Sprint(token), TTL: ticksTTL}
}

func TestVotesDoWhatTheCodeDoes(t *testing.T) {
	for seed := range uint64(sequences) {
		onCode(t, func(c *code) { compareVotes(c, seed) })
	}
}

func compareVotes(c *code, seed uint64) {
	m := &Votes{TTL: 3}
	r := rand.New(rand.NewPCG(seed, 1))
	silenced := c.guarded(0) // the server has no marker, and does not vote on these connections
	var node votesNode
	for a := range node.calls {
		// Something may always arrive, so that nothing settles.
		node.calls[a].lateExtend, node.calls[a].mayArrive = true, r.IntN(2) == 0
	}
	for i := range calls {
		a := r.IntN(votesAttempts)
		token := fmt.Sprint(a)
		var want, got any
		switch r.IntN(5) {
		case 0, 1:
			reply := c.acquire(request(a))
			got, want = node.acquire(m, a), reply.Granted
		case 2:
			on := c.node
			if r.IntN(3) == 0 {
				on, node.silent = silenced, 1
			}
			reply := c.extend(on, driver.ExtendRequest{Key: "k", Token: token, TTL: ticksTTL, Refill: true})
			got, want = node.extend(m, a), reply == driver.ExtendDone
			node.silent = 0
		case 3:
			req := driver.ReleaseRequest{Key: "k", Token: token}
			if node.calls[a].mayArrive {
				req.Tombstone = time.Hour
			}
			c.release(req)
			node.release(m, a)
		case 4:
			time.Sleep(tick)
			node.tick()
		}
		held, holder := c.held(), ""
		if node.holder > 0 {
			holder = fmt.Sprint(node.holder - 1)
		}
		if got != want || holder != held.Token {
			c.Fatalf("seed %d, call %d: the model says %v and %q, the code %v and %q", seed, i, got, holder, want,
				held.Token)
		}
	}
}

func TestFencesDoWhatTheCodeDoes(t *testing.T) {
	for seed := range uint64(sequences) {
		onCode(t, func(c *code) { compareFences(c, seed) })
	}
}

func compareFences(c *code, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	m := &Fences{Attempts: fenceAttempts, Run: 1 + r.IntN(3)}
	// Its clock is so young that counters begin at one.
	c.server.StepClock(time.Until(time.UnixMicro(1e7)))
	var node fenceNode
	for i := range calls {
		a := r.IntN(fenceAttempts)
		token := fmt.Sprint(a)
		var want, got any
		switch r.IntN(4) {
		case 0, 1:
			req := request(a)
			req.Run = uint64(m.Run)
			reply := c.acquire(req)
			first, last := m.acquire(&node, a, 0)
			got, want = [2]uint8{first, last}, [2]uint8{uint8(reply.Counter),
				uint8(reply.Counter + max(reply.Run, 1) - 1)}
			if !reply.Granted {
				want = [2]uint8{}
			}
		case 2:
			to := node.counter + uint8(r.IntN(3))
			node.calls[a].first = node.grant - uint8(r.IntN(int(node.grant)+1)&1)
			want = c.raise(driver.RaiseRequest{Key: "k", Token: token, Counter: uint64(node.calls[a].first),
				Fence: uint64(to)})
			may := m.mayRaise(&node, a)
			if got = may; may {
				node.counter = max(node.counter, to)
			}
		case 3:
			if node.holder != 0 {
				c.release(driver.ReleaseRequest{Key: "k", Token: fmt.Sprint(node.holder - 1)})
				node.holder, node.grant = 0, 0
			} else if node.counter < 200 {
				fence := uint64(node.counter) + 1
				c.extend(c.node, driver.ExtendRequest{Key: "k", Token: token, TTL: time.Hour, Refill: true,
					Fence: fence})
				node.refill(a, node.counter+1)
			}
		}
		counter, held := c.server.Counter("k"), c.held()
		if got != want || uint64(node.counter) != counter || uint64(node.grant) != held.Counter {
			c.Fatalf("seed %d, call %d: the model says %v, %d, %d; the code %v, %d, %v",
				seed, i, got, node.counter, node.grant, want, counter, held)
		}
	}
}

func TestGuardDoesWhatTheCodeDoes(t *testing.T) {
	for seed := range uint64(sequences) {
		onCode(t, func(c *code) { compareGuard(c, seed) })
	}
}

func compareGuard(c *code, seed uint64) {
	m := &Guard{TTL: 3, Ahead: true}
	r := rand.New(rand.NewPCG(seed, 3))
	s := guardState{}
	n := &s.nodes[0]
	clients := [guardClients]*locktest.FakeNode{c.guarded(0), c.guarded(20 * ticksTTL)}
	for i := range calls {
		switch what := r.IntN(12); what {
		case 0:
			c.server.SetMarker("")
			n.replace(data{})
		case 1:
			c.server.Crash()
			c.server.Restart()
			n.generation++
		case 2:
			c.server.SetMarker("voting|" + fingerprint + "|other|0")
			n.replace(data{marker: marker{state: voting, process: foreign}})
		case 3:
			c.server.StepClock(10 * ticksTTL)
			if n.marker.counted {
				n.marker.byNode = uint8(m.TTL)
			}
		case 4, 5, 6:
			time.Sleep(tick)
			s = m.tick(s)
		default:
			client := what % 2
			if m.mayVote(n) {
				break
			}
			ask := guard.Ask{Length: ticksTTL, Nonce: fmt.Sprint("n", i), Known: identity(c.server)}
			_, err := clients[client].AskQuarantine(c.Context(), ask)
			c.must(err)
			m.ask(s, client, 0, func(_ explore.Step, to guardState) { s = to })
		}
		votes := c.votes(clients[i%guardClients])
		got, want := n.describe(), describeMarker(c.server.Marker(), c.server.RunID())
		if m.mayVote(n) != votes || got != want {
			c.Fatalf("seed %d, call %d: the model says %s, the code %s, and votes %v: %s",
				seed, i, got, want, votes, c.server.Marker())
		}
	}
}

// identity is of the quarantine of the server's process, if it is in one.
func identity(server *locktest.FakeServer) string {
	if fields := strings.Split(server.Marker(), "|"); len(fields) == 8 && fields[2] == server.RunID() {
		return fields[4]
	}
	return ""
}

func (n *guardNode) describe() string {
	if n.marker.state == noMarker {
		return "none"
	}
	state := [...]string{voting: "voting", quarantined: "quarantine"}[n.marker.state]
	return fmt.Sprint(state, n.marker.process == 1+n.generation, n.marker.counted)
}

func describeMarker(text, runID string) string {
	fields := strings.Split(text, "|")
	if len(fields) < 4 {
		return "none"
	}
	return fmt.Sprint(fields[0], fields[2] == runID, len(fields) == 8 && fields[6] != "0")
}
