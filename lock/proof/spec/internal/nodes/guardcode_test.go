package nodes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/compare"
	"github.com/lockscope/lockscope/lock/proof/spec/internal/explore"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

func TestGuardDoesWhatTheCodeDoes(t *testing.T) { compare.Each(t, compareGuard) }

func compareGuard(c *compare.Code, seed uint64) {
	m := &Guard{TTL: 3, Ahead: true}
	r := rand.New(rand.NewPCG(seed, 3))
	s := guardState{}
	n := &s.nodes[0]
	clients := [guardClients]*locktest.FakeNode{c.Guarded(0), c.Guarded(20 * compare.TTL)}
	for i := range compare.Calls {
		switch what := r.IntN(12); what {
		case 0:
			c.Server.SetMarker("")
			n.replace(data{})
		case 1:
			c.Server.Crash()
			c.Server.Restart()
			n.generation++
		case 2:
			c.Server.SetMarker("voting|" + compare.Fingerprint + "|other|0")
			n.replace(data{marker: marker{state: voting, process: foreign}})
		case 3:
			c.Server.StepClock(10 * compare.TTL)
			if n.marker.counted {
				n.marker.byNode = uint8(m.TTL)
			}
		case 4, 5, 6:
			time.Sleep(compare.Tick)
			s = m.tick(s)
		default:
			client := what % 2
			if m.mayVote(n) {
				break
			}
			ask := guard.Ask{Length: compare.TTL, Nonce: fmt.Sprint("n", i), Known: identity(c.Server)}
			_, err := clients[client].AskQuarantine(c.Context(), ask)
			c.Must(err)
			m.ask(s, client, 0, func(_ explore.Step, to guardState) { s = to })
		}
		votes := votesOn(c, clients[i%guardClients])
		got, want := n.describe(), describeMarker(c.Server.Marker(), c.Server.RunID())
		if m.mayVote(n) != votes || got != want {
			c.Fatalf("seed %d, call %d: the model says %s, the code %s, and votes %v: %s",
				seed, i, got, want, votes, c.Server.Marker())
		}
	}
}

// votesOn reports that the server votes on the connections of a guarded node: only then it takes a key back.
func votesOn(c *compare.Code, guarded *locktest.FakeNode) bool {
	c.Helper()
	const key, token = "vote", "v"
	reply := c.Extend(guarded, driver.ExtendRequest{Key: key, Token: token, TTL: time.Hour, Refill: true})
	c.Release(driver.ReleaseRequest{Key: key, Token: token})
	return reply == driver.ExtendRefilled
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
