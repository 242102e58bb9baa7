package top

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// judgement is what the markers of a set say of its nodes.
type judgement struct {
	enforced      bool
	configuration string // that most of the voting nodes have
}

// judge says which nodes are up, quarantined, barred or down. It is what a service would find, as far as INFO and the
// marker show it.
func judge(nodes []*node, all []health, redlockSet bool, now time.Time) []screen.Node {
	var j judgement
	if redlockSet && len(nodes) >= diagnosis.EnforcedFrom {
		votes := make(map[string]int)
		for i := range all {
			m := all[i].read(nodes[i])
			if m.State == redlock.MarkerVoting {
				votes[m.Configuration]++
				if votes[m.Configuration] > votes[j.configuration] {
					j.configuration = m.Configuration
				}
			}
			j.enforced = j.enforced || m.State == redlock.MarkerVoting || m.State == redlock.MarkerQuarantined
		}
	}
	judged := make([]screen.Node, len(nodes))
	for i, n := range nodes {
		h := &all[i]
		judged[i] = screen.Node{Name: n.name, Answered: h.answered, Latency: h.latency, Slowest: h.slowest}
		judged[i].State, judged[i].Why = j.of(h, n, now)
		h.overTime(&judged[i])
	}
	return judged
}

// overTime judges a node that answers some of the time by the rule of all views.
func (h *health) overTime(n *screen.Node) {
	missed := n.State == state.NodeDown && h.seen.State.Votes()
	if !missed && !(n.State == state.NodeUp && h.seen.State == decorate.NodeShaky) {
		return
	}
	failed := fmt.Sprintf("%.0f%% of its answers are missing", 100*float64(h.seen.Failures)/float64(h.seen.Calls))
	if n.State = state.NodeShaky; missed {
		failed += ", now: " + n.Why
	}
	n.Why = failed
}

func (h *health) read(n *node) redlock.Marker {
	return redlock.ReadMarker(h.marker, redisinfo.Parse(h.info).Incarnation(), n.client.Options().DB)
}

func (j *judgement) of(h *health, n *node, now time.Time) (nodeState, why string) {
	switch {
	case redis.HasErrorPrefix(h.err, "LOADING"):
		return state.NodeBarred, "loading its data"
	case h.err != nil && redisconn.IsReply(h.err):
		return state.NodeBarred, "it answers with an error: " + h.err.Error()
	case h.err != nil:
		return state.NodeDown, short(h.err)
	case h.refused != nil:
		return state.NodeUp, "whether it votes is unknown: grant +info +getrange %R~" + guard.MarkerKey
	}
	if why = unfit(h.info); why != "" {
		return state.NodeBarred, why
	}
	if !j.enforced {
		return state.NodeUp, ""
	}
	switch m := h.read(n); m.State {
	case redlock.MarkerVoting:
		if m.Configuration != j.configuration {
			return state.NodeBarred, "it votes for another configuration: " + m.Configuration
		}
		return state.NodeUp, ""
	case redlock.MarkerChanging:
		return state.NodeBarred, "a change of its configuration is not finished: run lockscope reconfigure again"
	case redlock.MarkerQuarantined:
		left := m.Left(0, now) // the marker has the length, except for the shortest, which is assumed
		if left <= 0 {
			return state.NodeUp, "its quarantine is over: it votes when a service asks"
		}
		return state.NodeQuarantined, "may have forgotten locks; votes again in " + ui.Short(diagnosis.RoundUp(left))
	}
	return state.NodeQuarantined, "restarted or wiped: its quarantine begins when a service asks for its vote"
}

// unfit is why a server with this reply to INFO does not vote.
func unfit(text string) string {
	info := redisinfo.Parse(text)
	err := guard.Fit(text)
	limit, used := info.Number("maxmemory"), info.Number("used_memory")
	switch {
	case errors.Is(err, driver.ErrReplica):
		return "read-only replica: connect to its master"
	case errors.Is(err, driver.ErrEvicting):
		return "may evict locks: its maxmemory-policy is " + info["maxmemory_policy"]
	case err != nil:
		return err.Error()
	case limit > 0 && used > limit:
		return "out of memory: it refuses writes (maxmemory " + info["maxmemory_human"] + ")"
	}
	return ""
}

// short is an error of a connection without the address, which is in the row.
func short(err error) string {
	var of *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &of):
		err = of.Err
	}
	return strings.Join(strings.Fields(err.Error()), " ")
}
