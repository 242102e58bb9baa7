// Package guard keeps a node from voting while its vote could be wrong: when it may have
// forgotten locks, for another set of nodes, as a replica, under a policy that evicts, or
// as one server under two names. That it remembers is proved by a marker on the server,
// which the script that votes reads; the rest it knows by what INFO says on a connection.
// It knows nothing of how commands travel: package redlock runs it on go-redis, the
// simulation in package locktest runs the very same code on servers in memory.
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

// reexamineAfter is how long it is believed what is known of a node, for and against it.
const reexamineAfter = time.Second

// Server is what the guard asks of a server, on a connection to it.
type Server interface {
	// Info is the reply to INFO.
	Info(ctx context.Context) (string, error)
	// Marker is the value of [MarkerKey], "" if there is none.
	Marker(ctx context.Context) (string, error)
	// Ask runs quarantine.lua with [Sight.QuarantineArgs] of the connection that carries it.
	Ask(ctx context.Context, a Ask) (Answer, error)
}

// Config is what a Guard goes by.
type Config struct {
	Node    string   // name of the node, for errors; not its identity
	Servers *Servers // shared by the guards of all nodes
	Clock   func() time.Duration

	// Quarantine is how long a forgotten lock can be valid; 0 if it does not matter that
	// nodes forget. Where Enforce is set a node votes only with the proof that it
	// remembers, for the configuration of this Fingerprint; else it votes, and that it
	// restarted is told.
	Quarantine  time.Duration
	Enforce     bool
	Fingerprint Fingerprint
	Vouch       string // the command that vouches for all nodes, if they are new; for errors
	DB          int
	EvictionOK  bool
	Off         bool
	Cluster     bool // many servers behind one node: run ids come and go, replicas among them
}

// Guard is one node's. It is safe for concurrent use.
type Guard struct {
	Config

	met     atomic.Bool // a server was looked at
	clear   atomic.Bool // nothing is known against this node: the fast way to a verdict
	latest  atomic.Pointer[Sight]
	restart atomic.Pointer[driver.Restart]
	looked  atomic.Int64 // on the clock: when what the server says of itself was last asked for

	mu        sync.Mutex
	runID     string
	memory    string // incarnation of the process
	problem   error
	silence   *silence      // why its server did not vote; nil if it does, as far as is known
	known     string        // identity of the quarantine that was read last
	voted     bool          // with the proof, since the last silence
	replaced  bool          // another process answers than before, and nobody was told
	evicted   bool          // it is the same process, which has dropped keys
	checkedAt time.Duration // when the problem was last looked at
	askedAt   time.Duration // when the server last said why it did not vote
}

// New makes the guard of a node that was not examined yet.
func New(c Config) *Guard { return &Guard{Config: c} }

// enforces reports that the server needs the proof to vote. The marker of a Redis Cluster
// would have to be one for each slot.
func (g *Guard) enforces() bool {
	return g.Enforce && g.Quarantine > 0 && !g.Off && !g.Cluster
}

// Examine looks at the server behind a new connection before it carries a command, and
// returns what that connection has to be compared with from then on. It fails only where
// the connection does: releases must go through even where votes may not.
func (g *Guard) Examine(ctx context.Context, s Server) (Sight, error) {
	if g.Off {
		return Sight{unchecked: true}, nil
	}
	text, err := s.Info(ctx)
	if err != nil {
		if isReply(err) {
			g.report(infoRefused(err))
			return g.saw(nil), nil
		}
		return Sight{}, err
	}
	info := redisinfo.Parse(text)
	err = g.judge(info, func() (string, error) {
		marker, err := s.Marker(ctx)
		if isReply(err) {
			return "", nil // it may not be read: then nobody has vouched
		}
		return marker, err
	})
	if err != nil {
		return Sight{}, err
	}
	return g.saw(info), nil
}

// isReply tells an error the server replied with from a connection that failed.
func isReply(err error) bool {
	var reply interface {
		error
		RedisError()
	}
	return errors.As(err, &reply)
}

// judge takes note of what a connection's server said of itself. marker is asked only
// where it matters, and its error is the connection's.
func (g *Guard) judge(info redisinfo.Info, marker func() (string, error)) error {
	if g.Cluster && info.Role() == "slave" {
		return nil // the client asks replicas about the topology only
	}
	vouched := false
	if !g.Cluster && !g.enforces() && g.Quarantine > info.Age() {
		text, err := marker()
		if err != nil {
			return err
		}
		m, ok := ParseMarker(text)
		vouched = ok && m.State == Voting && m.RunID == info.RunID() && m.RunID != ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if info.RunID() != "" && !g.Cluster && g.incarnationOf(info) != g.memory {
		g.meet(info, vouched)
	}
	g.met.Store(true)
	// One connection to a Redis Cluster shows one of its masters: that the others are fit, too, only a look at all can tell.
	if problem := g.findProblem(info); !g.Cluster || problem != nil {
		g.found(problem)
	}
	return nil
}

// found expects mu to be held.
func (g *Guard) found(problem error) {
	g.problem, g.checkedAt = problem, g.Clock()
	g.looked.Store(int64(g.checkedAt))
	g.settle()
}

// meet takes note of a memory not seen before: of another process, or of the same that
// has dropped keys. Where that alone is told, the uptime of a process says for how long;
// else its marker does, and the uptime is not believed.
func (g *Guard) meet(info redisinfo.Info, vouched bool) {
	first := g.memory == ""
	g.evicted = info.RunID() == g.runID
	g.runID, g.memory = info.RunID(), g.incarnationOf(info)
	if g.enforces() {
		g.replaced = g.replaced || !first
		return
	}
	left := max(0, g.Quarantine-info.Age())
	switch {
	case g.evicted:
		left = g.Quarantine
	case vouched:
		left = 0
	}
	if !first || left > 0 {
		g.restart.Store(&driver.Restart{Witnessed: !first, Left: left, Evicted: g.evicted})
	}
}

func (g *Guard) findProblem(info redisinfo.Info) error {
	if err := mustBeMaster(info); err != nil {
		return err
	}
	if err := mustKeepKeys(info); err != nil && !g.EvictionOK {
		return err
	}
	if other, taken := g.Servers.claim(info.RunID(), g); taken {
		return fmt.Errorf("%w: %s and %s have the same run_id: name each server once", driver.ErrDuplicate, other, g.Node)
	}
	return nil
}

func (g *Guard) report(problem error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.met.Store(true)
	g.found(problem)
}

// settle expects mu to be held.
func (g *Guard) settle() {
	g.clear.Store(g.problem == nil && g.silence == nil && !g.replaced && (g.voted || !g.enforces()))
}

// Restart returns a restart that nobody was told of yet; nil if there is none.
func (g *Guard) Restart() *driver.Restart {
	if g.restart.Load() == nil {
		return nil
	}
	return g.restart.Swap(nil)
}

// Verdict says of a vote that was granted why it does not count, or nil: the connection
// that carried it may be the first since the node got a problem, or the server may have
// dropped keys since the vote was sent with what the connection saw.
func (g *Guard) Verdict(sent Sight) error {
	if g.Off || g.clear.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.problem != nil {
		return g.problem
	}
	if g.enforces() && sent.runID == g.runID && sent.incarnation != g.memory {
		return fmt.Errorf("%w: it has evicted keys a moment ago", driver.ErrQuarantined)
	}
	if g.replaced {
		g.restart.Store(&driver.Restart{Witnessed: true, Evicted: g.evicted})
	}
	g.silence, g.known, g.voted, g.replaced, g.evicted = nil, "", true, false, false
	g.Servers.noteVote()
	g.settle()
	return nil
}

// Admit says, before anything is sent, why the node may not vote. A server that was
// never looked at is, first: one that may not vote should not be left with traces of
// a lock that nobody got. A finding is looked at afresh from time to time: the
// operator may have mended it, or vouched, and a quarantine ends when somebody asks.
func (g *Guard) Admit(ctx context.Context, s Server) error {
	if g.Off || g.clear.Load() {
		return nil
	}
	if !g.met.Load() {
		_, _ = s.Marker(ctx) // makes a connection; where that fails, so will the vote
	}
	g.mu.Lock()
	now, problem, silence := g.Clock(), g.problem, g.silence
	last := &g.askedAt
	if problem != nil {
		last = &g.checkedAt
	}
	stale := now-*last > reexamineAfter
	if stale {
		*last = now // one caller looks, the others go on believing
	}
	g.mu.Unlock()
	switch {
	case problem != nil && stale:
		g.Looked(s.Info(ctx))
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.problem
	case problem != nil:
		return problem
	case silence == nil:
		return nil
	case stale || now >= silence.until:
		g.look(ctx, s)
		return g.ask(ctx, s)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.silent(silence, now)
}
