package lock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// reexamineAfter is how long a problem found on a node is believed.
const reexamineAfter = time.Second

// guard keeps one node from voting while its vote could be wrong. It examines
// every new connection before it carries a command, so that the first vote
// after a restart is already known to come from a restarted server.
type guard struct {
	name       string
	nodes      *runIDs
	clock      Clock
	quarantine time.Duration // 0: restarts do not matter here
	evictionOK bool
	off        bool
	cluster    bool // many servers behind one node: run ids come and go

	clear atomic.Bool // nothing is known against this node: the fast way to a verdict

	mu        sync.Mutex
	runID     string
	seen      time.Duration // when the run id was last confirmed
	silent    time.Duration // may not vote before this instant
	problem   error
	problemAt time.Duration
}

// examine is the connection's OnConnect. It never fails a connection: releases
// must go through even where votes may not.
func (g *guard) examine(ctx context.Context, cn *redis.Conn) error {
	if g.off {
		return nil
	}
	info, err := cn.Info(ctx).Result()
	if err != nil {
		var reply redis.Error
		if !errors.As(err, &reply) {
			return err
		}
		g.report(fmt.Errorf("%w: INFO is refused: grant +info to this user, or use WithoutGuard: %w", ErrUnguarded, err))
		return nil
	}
	server := parseInfo(info)
	always := false
	if server.aof && g.quarantine > 0 && server.uptime <= g.quarantine {
		policy, err := cn.ConfigGet(ctx, "appendfsync").Result()
		always = err == nil && policy["appendfsync"] == "always"
	}
	g.judge(server, always)
	return nil
}

// judge takes note of what a connection's server said of itself. durable says
// that it loses nothing when it restarts.
func (g *guard) judge(s serverInfo, durable bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.clock()
	if s.runID != g.runID && !g.cluster && s.runID != "" {
		g.restarted(s, durable, now)
	}
	g.seen = now
	g.problem, g.problemAt = g.findProblem(s), now
	g.clear.Store(g.problem == nil && g.silent <= now)
}

// restarted begins the quarantine of a server not seen before. Uptime is by the
// server's wall clock: where it claims to reach back before the last sight of the
// former run id, that clock has jumped and the whole quarantine is due.
func (g *guard) restarted(s serverInfo, durable bool, now time.Duration) {
	first := g.runID == ""
	g.runID = s.runID
	if g.quarantine == 0 || durable {
		return
	}
	up := s.uptime
	if !first && up > now-g.seen+time.Second {
		up = 0
	}
	g.silent = max(g.silent, now+g.quarantine-up)
}

func (g *guard) findProblem(s serverInfo) error {
	if s.role == "slave" {
		return fmt.Errorf("%w: name its master, or use a Sentinel client", ErrReplica)
	}
	if s.evicts() && !g.evictionOK {
		return fmt.Errorf("%w (it is %s): set maxmemory-policy noeviction, or accept the loss of locks with WithEvictingNodes",
			ErrEvicting, s.policy)
	}
	if other := g.nodes.claim(s.runID, g.name); other != "" {
		return fmt.Errorf("%w: %s and %s have the same run_id: name each server once", ErrDuplicateNode, other, g.name)
	}
	return nil
}

func (g *guard) report(problem error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.problem, g.problemAt = problem, g.clock()
	g.clear.Store(false)
}

// verdict says why the node may not vote, or nil.
func (g *guard) verdict() error {
	if g.off || g.clear.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.problem != nil {
		return g.problem
	}
	if left := g.silent - g.clock(); left > 0 {
		return fmt.Errorf("%w: for %v, until no lock it may have lost can be valid "+
			"(shorten with appendfsync always or WithRestartQuarantine)", ErrQuarantined, left.Round(time.Millisecond))
	}
	return nil
}

// admit says, before anything is sent, why the node may not vote. A problem is
// looked at afresh from time to time: the operator may have mended it.
func (g *guard) admit(ctx context.Context, c client) error {
	err := g.verdict()
	if err == nil {
		return nil
	}
	g.mu.Lock()
	stale := g.problem != nil && g.clock()-g.problemAt > reexamineAfter
	if stale {
		g.problemAt = g.clock() // one caller looks, the others go on believing
	}
	g.mu.Unlock()
	if !stale {
		return err
	}
	cmd := redis.NewStringCmd(ctx, "info")
	if c.Process(ctx, cmd) != nil {
		return err
	}
	g.judge(parseInfo(cmd.Val()), false)
	return g.verdict()
}

// runIDs knows which server is behind which node.
type runIDs struct {
	mu    sync.Mutex
	owner map[string]string
	ofOwn map[string]string
}

func newRunIDs() *runIDs {
	return &runIDs{owner: make(map[string]string), ofOwn: make(map[string]string)}
}

// claim records that node is the server with this run id. It returns the node
// that claimed it before, if that is another.
func (r *runIDs) claim(runID, node string) (other string) {
	if runID == "" {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if owner, taken := r.owner[runID]; taken && owner != node {
		return owner
	}
	delete(r.owner, r.ofOwn[node])
	r.owner[runID], r.ofOwn[node] = node, runID
	return ""
}
