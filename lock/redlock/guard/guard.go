// Package guard keeps a node from voting while its vote could be wrong: after a
// restart that may have lost locks, as a replica, under a policy that evicts, or
// as one server under two names. It knows a server by what INFO says on a
// connection, and nothing of how commands travel: package redlock runs it on go-redis,
// the simulation in package locktest runs the very same code on servers in memory.
package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"

	"github.com/lockscope/lockscope/lock/driver"
)

// reexamineAfter is how long a finding against a node is believed.
const reexamineAfter = time.Second

// Server is what the guard asks of a server, on a connection to it.
type Server interface {
	// Info is the reply to INFO.
	Info(ctx context.Context) (string, error)
	// Life is the value of [LifeKey], "" if there is none.
	Life(ctx context.Context) (string, error)
}

// Config is what a Guard goes by.
type Config struct {
	Node    string   // name of the node, for errors; not its identity
	Servers *Servers // shared by the guards of all nodes
	Clock   func() time.Duration

	// Quarantine is how long a forgotten lock can be valid after a restart; 0 if
	// restarts do not matter. A node that restarted is told about, and where Enforce
	// is set it does not vote for so long.
	Quarantine time.Duration
	Enforce    bool
	EvictionOK bool
	Off        bool
	Cluster    bool // many servers behind one node: run ids come and go, replicas among them
}

// Guard is one node's. It is safe for concurrent use.
type Guard struct {
	Config

	met     atomic.Bool  // a server was looked at
	clear   atomic.Bool  // nothing is known against this node: the fast way to a verdict
	seen    atomic.Int64 // when the server was last heard of, on the clock
	restart atomic.Pointer[driver.Restart]

	mu        sync.Mutex
	runID     string
	silent    time.Duration // locks that were forgotten can be valid until then
	silencer  string        // run id of the process that forgot them
	problem   error
	checkedAt time.Duration // when what is held against the node was last looked at
}

// New makes the guard of a node that was not examined yet.
func New(c Config) *Guard { return &Guard{Config: c} }

// Examine looks at the server behind a new connection before it carries a command,
// so that the first vote after a restart is already known to come from a restarted
// server. It fails only where the connection does: releases must go through even
// where votes may not.
func (g *Guard) Examine(ctx context.Context, s Server) error {
	if g.Off {
		return nil
	}
	text, err := s.Info(ctx)
	if err != nil {
		if isReply(err) {
			g.report(fmt.Errorf("%w: INFO is refused: grant +info to this user, or use WithoutGuard: %w", driver.ErrUnexamined, err))
			return nil
		}
		return err
	}
	info := redisinfo.Parse(text)
	return g.judge(info, func() (string, error) {
		life, err := s.Life(ctx)
		if isReply(err) {
			return "", nil // it may not be read: then nobody has vouched
		}
		return life, err
	})
}

// isReply tells an error the server replied with from a connection that failed.
func isReply(err error) bool {
	var reply interface {
		error
		RedisError()
	}
	return errors.As(err, &reply)
}

// judge takes note of what a connection's server said of itself. life is asked only
// where it matters, and its error is the connection's.
func (g *Guard) judge(info redisinfo.Info, life func() (string, error)) error {
	if g.Cluster && info.Role() == "slave" {
		return nil // the client asks replicas about the topology only
	}
	vouched := false
	if !g.Cluster && g.Quarantine > 0 && g.Quarantine > info.Age() {
		text, err := life()
		if err != nil {
			return err
		}
		vouched = VouchedFor(text, info.RunID())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.Clock()
	if info.RunID() != "" && !g.Cluster {
		if info.RunID() != g.runID {
			g.restarted(info, vouched, now)
		}
		// Not where another process is silent: what was vouched for may have been read from its leftovers.
		if vouched && g.silencer == info.RunID() {
			g.silent = now
		}
	}
	g.met.Store(true)
	g.seen.Store(int64(now))
	g.problem, g.checkedAt = g.findProblem(info), now
	g.settle(now)
	return nil
}

// restarted begins the quarantine of a server not seen before. Uptime is by the
// server's wall clock: where it claims to reach back before the last sight of the
// former server, that clock has jumped and the whole quarantine is due.
func (g *Guard) restarted(info redisinfo.Info, vouched bool, now time.Duration) {
	first := g.runID == ""
	g.runID = info.RunID()
	age := info.Age()
	if !first && info.Uptime() > now-time.Duration(g.seen.Load())+time.Second {
		age = 0
	}
	if until := now + g.Quarantine - age; until > g.silent && !vouched {
		g.silent, g.silencer = until, info.RunID()
	}
	if left := max(0, g.silent-now); !first || left > 0 {
		g.restart.Store(&driver.Restart{Witnessed: !first, Left: left, Enforced: g.Enforce && left > 0})
	}
}

func (g *Guard) findProblem(info redisinfo.Info) error {
	if err := mustBeMaster(info); err != nil {
		return err
	}
	if info.Evicts() && !g.EvictionOK {
		return fmt.Errorf("%w (its maxmemory-policy is %s): set it to noeviction, or accept the loss of locks with WithEvictingNodes",
			driver.ErrEvicting, info["maxmemory_policy"])
	}
	if other, taken := g.Servers.claim(info.RunID(), g); taken {
		return fmt.Errorf("%w: %s and %s have the same run_id: name each server once", driver.ErrDuplicate, other, g.Node)
	}
	return nil
}

func (g *Guard) report(problem error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.problem, g.checkedAt = problem, g.Clock()
	g.met.Store(true)
	g.clear.Store(false)
}

// settle expects mu to be held.
func (g *Guard) settle(now time.Duration) {
	g.clear.Store(g.problem == nil && (g.silent <= now || !g.Enforce))
}

// Answered notes that the server was there to answer a command. What is known of
// its clock is only as good as this is recent.
func (g *Guard) Answered() {
	if !g.Off {
		g.seen.Store(int64(g.Clock()))
	}
}

// Restart returns a restart that nobody was told of yet; nil if there is none.
func (g *Guard) Restart() *driver.Restart {
	if g.restart.Load() == nil {
		return nil
	}
	return g.restart.Swap(nil)
}

// Verdict says why the node may not vote, or nil. It is asked again after a vote:
// the connection that carried it may be the first since a restart.
func (g *Guard) Verdict() error {
	if g.Off || g.clear.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.problem != nil {
		return g.problem
	}
	now := g.Clock()
	if left := g.silent - now; left > 0 && g.Enforce {
		return fmt.Errorf("%w: for %v, until no lock it may have lost can be valid "+
			"(if these nodes are new and were never used, vouch for them with lockscope init or redlock.Vouch)",
			driver.ErrQuarantined, left.Round(time.Millisecond))
	}
	g.settle(now)
	return nil
}

// Admit says, before anything is sent, why the node may not vote. A server that was
// never looked at is, first: one that may not vote should not be left with traces of
// a lock that nobody got. A finding is looked at afresh from time to time: the
// operator may have mended it, or vouched.
func (g *Guard) Admit(ctx context.Context, s Server) error {
	if !g.Off && !g.met.Load() {
		_, _ = s.Life(ctx) // makes a connection; where that fails, so will the vote
	}
	err := g.Verdict()
	if err == nil {
		return nil
	}
	g.mu.Lock()
	now := g.Clock()
	stale := now-g.checkedAt > reexamineAfter
	if stale {
		g.checkedAt = now // one caller looks, the others go on believing
	}
	g.mu.Unlock()
	if !stale || g.Examine(ctx, s) != nil {
		return err
	}
	return g.Verdict()
}
