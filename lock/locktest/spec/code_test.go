package spec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/internal/memstate"
)

// These tests tie the models to the code: what a node does in a model, it does in package
// memstate, of which package locktest tests that it does what the scripts do on a server.

const (
	sequences = 300
	calls     = 60
	tick      = time.Second
	// A key is set some time before a tick and not there any more so many ticks later.
	ticksTTL = 3*tick - tick/2
)

func request(token int) driver.AcquireRequest {
	return driver.AcquireRequest{Key: "k", Token: fmt.Sprint(token), TTL: ticksTTL}
}

func TestVotesDoWhatTheCodeDoes(t *testing.T) {
	m := &Votes{TTL: 3}
	for seed := range uint64(sequences) {
		r := rand.New(rand.NewPCG(seed, 1))
		code := &memstate.Instant{State: memstate.New(), NowUS: 1e9}
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
				reply, _ := code.Acquire(request(a))
				got, want = node.acquire(m, a), reply.Granted
			case 2:
				votes := r.IntN(3) > 0
				if !votes {
					node.silent = 1
				}
				reply := code.Extend(driver.ExtendRequest{Key: "k", Token: token, TTL: ticksTTL, Refill: true}, votes)
				got, want = node.extend(m, a), reply == driver.ExtendDone
				node.silent = 0
			case 3:
				req := driver.ReleaseRequest{Key: "k", Token: token}
				if node.calls[a].mayArrive {
					req.Tombstone = time.Hour
				}
				code.Release(req)
				node.release(m, a)
			case 4:
				code.NowUS += tick.Microseconds()
				code.Expire(code.NowUS / 1000)
				node.tick()
			}
			held, holder := code.Locks["k"], ""
			if node.holder > 0 {
				holder = fmt.Sprint(node.holder - 1)
			}
			if got != want || holder != held.Token {
				t.Fatalf("seed %d, call %d: the model says %v and %q, the code %v and %q", seed, i, got, holder, want, held.Token)
			}
		}
	}
}

func TestFencesDoWhatTheCodeDoes(t *testing.T) {
	for seed := range uint64(sequences) {
		r := rand.New(rand.NewPCG(seed, 2))
		m := &Fences{Attempts: fenceAttempts, Run: 1 + r.IntN(3)}
		code := &memstate.Instant{State: memstate.New(), NowUS: 1e7}
		var node fenceNode
		for i := range calls {
			a := r.IntN(fenceAttempts)
			token := fmt.Sprint(a)
			var want, got any
			switch r.IntN(4) {
			case 0, 1:
				req := request(a)
				req.Run = uint64(m.Run)
				reply, _ := code.Acquire(req)
				first, last := m.acquire(&node, a, 0)
				got, want = [2]uint8{first, last}, [2]uint8{uint8(reply.Counter), uint8(reply.Counter + max(reply.Run, 1) - 1)}
				if !reply.Granted {
					want = [2]uint8{}
				}
			case 2:
				to := node.counter + uint8(r.IntN(3))
				node.calls[a].first = node.grant - uint8(r.IntN(int(node.grant)+1)&1)
				want = code.Raise(driver.RaiseRequest{Key: "k", Token: token, Counter: uint64(node.calls[a].first), Fence: uint64(to)})
				may := m.mayRaise(&node, a)
				if got = may; may {
					node.counter = max(node.counter, to)
				}
			case 3:
				if node.holder != 0 {
					delete(code.Locks, "k")
					node.holder, node.grant = 0, 0
				} else if node.counter < 200 {
					code.Extend(driver.ExtendRequest{Key: "k", Token: token, TTL: time.Hour, Refill: true, Fence: uint64(node.counter) + 1}, true)
					node.refill(a, node.counter+1)
				}
			}
			if got != want || uint64(node.counter) != code.Counters["k"] || uint64(node.grant) != code.Locks["k"].Counter {
				t.Fatalf("seed %d, call %d: the model says %v, %d, %d; the code %v, %d, %v",
					seed, i, got, node.counter, node.grant, want, code.Counters["k"], code.Locks["k"])
			}
		}
	}
}

func TestGuardDoesWhatTheCodeDoes(t *testing.T) {
	m := &Guard{TTL: 3, Ahead: true}
	for seed := range uint64(sequences) {
		r := rand.New(rand.NewPCG(seed, 3))
		code := &memstate.Instant{State: memstate.New(), NowUS: 1e12}
		s := guardState{}
		n := &s.nodes[0]
		callers := time.Duration(1e12) * time.Microsecond
		runID := func() string { return fmt.Sprint("r", n.generation) }
		for i := range calls {
			switch what := r.IntN(12); what {
			case 0:
				code.Marker = ""
				n.replace(data{})
			case 1:
				n.generation = (n.generation + 1) % 200
			case 2:
				code.Marker = "voting|f|other|0"
				n.replace(data{marker: marker{state: voting, process: foreign}})
			case 3:
				code.NowUS += (10 * ticksTTL).Microseconds()
				if n.marker.counted {
					n.marker.byNode = uint8(m.TTL)
				}
			case 4, 5, 6:
				code.NowUS, callers = code.NowUS+tick.Microseconds(), callers+tick
				s = m.tick(s)
			default:
				c := what % 2
				now := callers.Milliseconds() + int64(c)*(20*ticksTTL).Milliseconds()
				asked := memstate.Asked{Fingerprint: "f", RunID: runID(), DB: "0", CallerMS: now, LengthMS: ticksTTL.Milliseconds(), Nonce: fmt.Sprint("n", i)}
				if fields := strings.Split(code.Marker, "|"); len(fields) == 8 && fields[2] == runID() {
					asked.Known = fields[4]
				}
				if !m.mayVote(n) {
					code.AskQuarantine(asked)
					m.ask(s, c, 0, func(_ Step, to guardState) { s = to })
				}
			}
			_, votes := code.Proven("voting|f|" + runID() + "|0")
			if got, want := n.describe(), describeMarker(code.Marker, runID()); m.mayVote(n) != votes || got != want {
				t.Fatalf("seed %d, call %d: the model says %s, the code %s: %s", seed, i, got, want, code.Marker)
			}
		}
	}
}

func (n *guardNode) describe() string {
	if n.marker.state == noMarker {
		return "none"
	}
	return fmt.Sprint([...]string{voting: "voting", quarantined: "quarantine"}[n.marker.state], n.marker.process == 1+n.generation, n.marker.counted)
}

func describeMarker(text, runID string) string {
	fields := strings.Split(text, "|")
	if len(fields) < 4 {
		return "none"
	}
	return fmt.Sprint(fields[0], fields[2] == runID, len(fields) == 8 && fields[6] != "0")
}
