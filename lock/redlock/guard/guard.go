// Package guard keeps a node from voting while its vote could be wrong:
//   - it may have forgotten locks;
//   - it votes for another set of nodes;
//   - it is a replica, or has a policy that evicts;
//   - it is another node under a second name.
//
// A marker on the server proves that the server remembers its locks, and the script that votes reads
// it. The reply to INFO on each connection tells the rest.
//
// The package does not send commands. Package redlock runs it on go-redis, the simulation in package
// locktest runs the same code on servers in memory, and the scanner reads markers with it. It is for
// lockscope's own packages; users of locks need package redlock only.
package guard

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// reexamineAfter is how long a finding about a node is used before it is checked again.
const reexamineAfter = time.Second

// Server asks a server, on a connection to it.
type Server interface {
	// Info returns the reply to INFO.
	Info(ctx context.Context) (string, error)
	// Marker returns the value of [MarkerKey], "" if there is none.
	Marker(ctx context.Context) (string, error)
	// Ask runs quarantine.lua with [Sight.QuarantineArgs] of the connection that carries it.
	Ask(ctx context.Context, a Ask) (Answer, error)
}

// Config configures a Guard.
type Config struct {
	Node    string   // name of the node, for errors; not its identity
	Servers *Servers // shared by the guards of all nodes
	Clock   func() time.Duration

	// Quarantine is how long a forgotten lock can be valid; 0 if nodes may forget. With
	// Enforce, a node votes only if its marker proves that it remembers, for the
	// configuration of this Fingerprint. Without, it votes, and restarts are reported;
	// only a node of another set of three or more refuses.
	Quarantine  time.Duration
	Enforce     bool
	Fingerprint Fingerprint
	Vouch       string // the command that vouches for all nodes, if they are new; for errors
	DB          int
	EvictionOK  bool
	NoEviction  bool // the caller states that servers which do not report their policy evict nothing
	ByMarker    bool // a marker identifies a server without a run_id: see identity
	Off         bool
	Cluster     bool // many servers behind one node: run ids come and go, replicas among them
}

// Guard decides whether one node may vote. It is safe for concurrent use.
type Guard struct {
	Config
	claimant *claimant // this node, as Servers knows it

	met       atomic.Bool // a server was examined
	clear     atomic.Bool // nothing is known against this node: the fast way to a verdict
	latest    atomic.Pointer[Sight]
	restart   atomic.Pointer[driver.Restart]
	info      atomic.Pointer[redisinfo.Info] // as it was seen last
	marked    identity
	clockSkew atomic.Int64
	probedAt  atomic.Int64 // on the clock: when what the server says of itself was last asked for

	mu        sync.Mutex
	runID     string
	memory    string // incarnation of the process
	problem   error
	silence   *silence      // why its server last refused to vote; nil if it voted since
	known     string        // identity of the quarantine that was read last
	voted     bool          // with the proof, since the last silence
	replaced  bool          // another process answers than before, and that was not reported
	evicted   bool          // it is the same process, which has dropped keys
	checkedAt time.Duration // when the problem was last checked
	askedAt   time.Duration // when the server last said why it did not vote
}

// silence is the reason why a server did not vote.
type silence struct {
	until  time.Duration // on the clock: when to ask again at the latest
	memory string        // incarnation of the process that keeps it
	err    error         // nil for a quarantine
	fresh  bool          // the quarantine began without a marker
}

// New returns the guard of a node that was not examined yet.
func New(c Config) *Guard {
	return &Guard{Config: c, claimant: &claimant{node: c.Node, many: c.Cluster}}
}

// enforces reports whether the server needs a marker to vote. A Redis Cluster cannot have one: it would
// need one for each slot.
func (g *Guard) enforces() bool {
	return g.Enforce && g.Quarantine > 0 && !g.Off && !g.Cluster
}

// judge evaluates the reply to INFO on a connection. It calls marker only if needed; its error is the
// connection's.
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
		vouched = ok && m.State == Voting && m.RunID == g.identityOf(info) && m.RunID != ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.identityOf(info) != "" && !g.Cluster && g.incarnationOf(info) != g.memory {
		g.meet(info, vouched)
	}
	g.met.Store(true)
	// One connection to a Redis Cluster shows one of its masters: that the others are fit, too, only a probe of all
	// can show.
	if problem := g.findProblem(info); !g.Cluster || problem != nil {
		g.found(problem)
	}
	return nil
}

// found expects mu to be held.
func (g *Guard) found(problem error) {
	g.problem, g.checkedAt = problem, g.Clock()
	g.probedAt.Store(int64(g.checkedAt))
	g.settle()
}

// meet records an incarnation not seen before: another process, or the same after it evicted keys. If
// restarts are only reported, the uptime of the process gives the time left. Otherwise its marker
// does, and the uptime is not trusted.
func (g *Guard) meet(info redisinfo.Info, vouched bool) {
	first := g.memory == ""
	g.evicted = g.identityOf(info) == g.runID
	g.runID, g.memory = g.identityOf(info), g.incarnationOf(info)
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
	if err := mustBeMaster(info, g.ByMarker); err != nil {
		return err
	}
	if err := mustKeepKeys(info, g.NoEviction); err != nil && !g.EvictionOK {
		return err
	}
	if other, taken := g.Servers.claim(g.identityOf(info), g.claimant); taken {
		return fmt.Errorf("%w: %s and %s have the same run_id, or the same marker: remove one", driver.ErrDuplicate,
			other, g.Node)
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

// Restart returns a restart that was not reported yet; nil if there is none.
func (g *Guard) Restart() *driver.Restart {
	if g.restart.Load() == nil {
		return nil
	}
	return g.restart.Swap(nil)
}

// saw returns the sight of a connection to a server with this reply to INFO.
func (g *Guard) saw(info redisinfo.Info) Sight {
	s := Sight{
		runID: g.identityOf(info), incarnation: g.incarnationOf(info), db: g.DB, fingerprint: g.Fingerprint,
		unchecked: !g.enforces(), marked: g.isMarked(info),
	}
	if g.Cluster {
		s.fingerprint = "" // it has no marker to compare
	}
	if info != nil {
		g.info.Store(&info)
	}
	if s.runID != "" {
		s.expected = votingMarker(g.Fingerprint, s.incarnation, g.DB)
	}
	g.latest.Store(&s)
	return s
}

// incarnationOf is what the marker has to name. If the caller accepts evictions, only the process
// counts.
func (g *Guard) incarnationOf(info redisinfo.Info) string {
	return memoryOf(g.identityOf(info), info, g.EvictionOK)
}

// Renewed returns the latest sight of the same process, from any of the node's connections; else s. Of servers that
// their markers identify, each connection expects the marker that was read last.
func (g *Guard) Renewed(s Sight) Sight {
	if latest := g.latest.Load(); latest != nil && (latest.runID == s.runID || latest.marked && s.marked) {
		return *latest
	}
	return s
}

// Latest returns the sight of the newest connection, for pools whose connections are not known one by
// one.
func (g *Guard) Latest() Sight {
	if s := g.latest.Load(); s != nil {
		return *s
	}
	return Sight{unchecked: !g.enforces()}
}
