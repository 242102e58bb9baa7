package top

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// keptLatencies are those that the slowest is of.
const keptLatencies = 30

// node is one Redis server.
type node struct {
	name    string
	client  *redis.Client
	timeout time.Duration
	cluster bool // it is a master of one: its marker may be another's
	probing *task[health]

	// The task's own.
	answered  time.Time
	latencies []time.Duration
	known     decorate.NodeHealth
	pinger    servers.Pinger
}

// health is the result of a probe.
type health struct {
	answered time.Time     // last; zero: never
	latency  time.Duration // of the last answer
	slowest  time.Duration
	said     guard.Account
	seen     decorate.NodeView // over the last minute
	err      error             // it does not answer, or refuses everything
}

func newNode(name string, client *redis.Client, timeout time.Duration) *node {
	n := &node{name: name, client: client, timeout: timeout}
	n.probing = newTask(health{err: errNotYet}, n.probe)
	return n
}

var errNotYet = errors.New("not asked yet")

// probe asks the node, and judges it by its answers of the last minute.
func (n *node) probe(ctx context.Context) health {
	h := n.probeOnce(ctx)
	now := time.Now()
	n.known.Done(now, locktrace.NodeEnd{Err: servers.Silence(h.err)})
	h.seen = n.known.View(now)
	return h
}

// probeOnce sends PING, and then INFO and a read of the marker together.
func (n *node) probeOnce(ctx context.Context) health {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	if n.answered.IsZero() {
		_ = n.pinger.Ping(ctx, n.client) // the time to connect is no latency
	}
	began := time.Now()
	err := n.pinger.Ping(ctx, n.client)
	if err != nil {
		return health{answered: n.answered, err: n.why(ctx, err)}
	}
	n.answered = time.Now()
	n.latencies = append(n.latencies, n.answered.Sub(began))
	n.latencies = n.latencies[max(0, len(n.latencies)-keptLatencies):]
	h := health{answered: n.answered, latency: n.answered.Sub(began), slowest: slices.Max(n.latencies)}
	if h.said = diagnosis.AccountOf(ctx, n.client, !n.cluster); h.said.Err != nil && !redisconn.IsReply(h.said.Err) {
		h.err = n.why(ctx, h.said.Err)
	}
	return h
}

// why is the error without what the row says already.
func (n *node) why(ctx context.Context, err error) error {
	if ctx.Err() != nil && !redisconn.IsReply(err) || errors.Is(err, os.ErrDeadlineExceeded) {
		return &silentError{n.timeout}
	}
	return redisconn.Scrub(err)
}

// silentError says that a node did not answer in time.
type silentError struct{ after time.Duration }

func (e *silentError) Error() string { return "no answer within " + e.after.String() }

// judge says which nodes are up, quarantined, barred or down. The guard decides which may vote.
func judge(nodes []*node, all []health, services guard.Config, now time.Time) []screen.Node {
	accounts := make([]guard.Account, len(nodes))
	for i, h := range all {
		if h.err == nil {
			accounts[i] = h.said
		}
	}
	judged := make([]screen.Node, len(nodes))
	for i, s := range guard.Judge(accounts, services, now) {
		h := &all[i]
		judged[i] = screen.Node{Name: nodes[i].name, Answered: h.answered, Latency: h.latency, Slowest: h.slowest}
		judged[i].State, judged[i].Why = h.stateOf(s)
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

func (h *health) stateOf(s guard.Standing) (nodeState, why string) {
	switch {
	case redis.HasErrorPrefix(h.err, "LOADING"):
		return state.NodeBarred, "loading its data"
	case h.err != nil && redisconn.IsReply(h.err):
		return state.NodeBarred, "it answers with an error: " + h.err.Error()
	case h.err != nil:
		return state.NodeDown, short(h.err)
	case !s.Known:
		return state.NodeUp, "whether it votes is unknown: grant +info +getrange %R~" + guard.MarkerKey
	case s.Err != nil:
		return state.NodeBarred, h.whyBarred(s.Err)
	case s.Quarantined && !s.Begun:
		return state.NodeQuarantined, "restarted or wiped: its quarantine begins when a service asks for its vote"
	case s.Quarantined:
		return state.NodeQuarantined, "may have forgotten locks; votes again in " + inspect.Short(diagnosis.RoundUp(s.Left))
	case s.Begun:
		return state.NodeUp, "its quarantine is over: it votes when a service asks"
	}
	return state.NodeUp, ""
}

// whyBarred is the error of the guard in a few words.
func (h *health) whyBarred(err error) string {
	switch {
	case errors.Is(err, driver.ErrReplica):
		return "read-only replica: connect to its master"
	case errors.Is(err, driver.ErrEvicting):
		return "may evict locks: its maxmemory-policy is " + redisinfo.Parse(h.said.Info)["maxmemory_policy"]
	case errors.Is(err, driver.ErrQuarantined):
		return "a change of its configuration is not finished: run lockscope reconfigure again"
	case errors.Is(err, guard.ErrOtherConfiguration):
		return strings.Replace(err.Error(), "node votes", "it votes", 1)
	}
	return err.Error()
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
