package top

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/lock/decorate"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/locktrace"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
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
	noPing    bool // PING is not the user's to send: each refusal is a line in the server's ACL LOG
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
	var failure error
	if h.err != nil && !redisconn.IsReply(h.err) {
		failure = driver.ErrTimeout
	}
	now := time.Now()
	n.known.Done(now, locktrace.NodeEnd{Err: failure})
	h.seen = n.known.View(now)
	return h
}

// probeOnce sends PING, and then INFO and a read of the marker together.
func (n *node) probeOnce(ctx context.Context) health {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	if n.answered.IsZero() {
		_ = n.ask(ctx) // the time to connect is no latency
	}
	began := time.Now()
	err := n.ask(ctx)
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

// ask is nil if the server answers PING or, where that is refused, INFO.
func (n *node) ask(ctx context.Context) error {
	if !n.noPing {
		err := n.client.Ping(ctx).Err()
		if err == nil || !redis.HasErrorPrefix(err, "NOPERM") {
			return err
		}
		n.noPing = true
	}
	return n.client.Info(ctx, "server").Err()
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
