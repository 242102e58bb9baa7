// Package diagnosis checks Redis servers against the assumptions of Redlock.
//
// [Gather] collects facts from the servers and changes nothing on them. [Examine] judges the facts with one small
// function per assumption. Each check returns a [Result]; the backends of other systems return theirs in an
// [Examination].
package diagnosis

import (
	"context"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

// check is one assumption: what is asked of every node, or of all together.
type check struct {
	name string
	node func(Facts, Policy) inspect.Result
	all  func([]Facts, Policy) []inspect.Result
	info bool // it needs INFO
}

// checks in the order in which they are reported.
func checks() []check {
	return []check{
		{name: "connection", node: checkConnection},
		{name: "nodes", all: checkCount},
		{name: "addresses", all: checkAddresses},
		{name: "run_id", all: checkRunIDs},
		{name: "machines", all: checkMachines},
		{name: "version", node: checkVersion, info: true},
		{name: "guard", all: checkGuard},
		{name: "role", node: checkRole, info: true},
		{name: "eviction", node: checkEviction, info: true},
		{name: "evicted", node: checkEvicted, info: true},
		{name: "writes", node: checkWrites},
		{name: "persistence", node: checkPersistence, info: true},
		{name: "uptime", node: checkUptime, info: true},
		{name: "marker", node: checkMarker, info: true},
		{name: "clock", node: checkClock},
		{name: "clock drift", node: checkDrift},
		{name: "clocks", all: checkClocks},
		{name: "latency", node: checkLatency},
		{name: "scripts", node: checkScripts},
		{name: "rights", node: checkRights},
	}
}

// Examine judges the facts. A node that could not be asked fails one check and is
// left out of the others, save those that need only its address.
func Examine(facts []Facts, p Policy) []inspect.Result {
	p.nodes = len(facts)
	if p.now.IsZero() {
		p.now = time.Now()
	}
	if len(p.NodeNames) == 0 {
		for _, f := range facts {
			p.NodeNames = append(p.NodeNames, f.Node)
		}
	}
	var results []inspect.Result
	for _, c := range checks() {
		if c.all != nil {
			for _, r := range c.all(facts, p) {
				r.Check = c.name
				results = append(results, r)
			}
			continue
		}
		for _, f := range facts {
			if f.Err != nil && c.name != "connection" || f.NoInfo != nil && c.info {
				continue
			}
			r := c.node(f, p)
			r.Check, r.Node = c.name, f.Node
			results = append(results, r)
		}
	}
	return results
}

// Examination is what was found of a system beside Redis.
type Examination struct {
	Backend string
	inspect.Examination
	Clock Clock
	Ping  Latency
}

// ExamineSystem examines a system as the user that takes the locks, for p.For plus a moment, and changes nothing. Errors,
// also the end of ctx, are in its results.
func ExamineSystem(ctx context.Context, in inspect.Inspector, p Policy) Examination {
	e := Examination{Backend: in.System(), Examination: in.Examine(ctx, p.SessionTTL)}
	if e.Answers {
		e.Clock, e.Ping = sampleClock(ctx, p, in.Ping)
		node := ""
		if e.Clock.Samples > 0 {
			node = in.Address()
			e.Add("clock", node, judgeClock(e.Clock))
			e.Add("clock drift", node, judgeDrift(e.Clock))
		}
		e.Add("latency", node, judgeLatency(e.Ping, p, "no answer: ", "see the connection check"))
	}
	for i := range e.Results {
		e.Results[i].Backend = e.Backend
	}
	return e
}

// sampleClock samples latency, and the clock of a server that tells the time with its answer.
func sampleClock(ctx context.Context, p Policy, ask func(context.Context) (time.Time, error)) (Clock, Latency) {
	began := time.Now()
	var samples []Sample
	l := sampleLatency(ctx, p, func(ctx context.Context) error {
		sent := time.Since(began)
		now, err := ask(ctx)
		if err == nil && !now.IsZero() {
			samples = append(samples, Sample{Server: now.Sub(began.Round(0)), Sent: sent, Gotten: time.Since(began)})
		}
		return err
	})
	return Measure(samples), l
}

// Defaults of [Policy].
const (
	DefaultTTL = lock.DefaultTTL
	DefaultFor = 3 * time.Second
)

// Policy is what the locks on the nodes are used with. Zero fields are not valid:
// see the defaults here and in package lock.
type Policy struct {
	TTL         time.Duration // that most locks have
	MaxTTL      time.Duration // the longest: lock.WithMaxTTL
	SessionTTL  time.Duration // the longest of locks that live as long as a session: ZooKeeper's
	NodeTimeout time.Duration // lock.WithNodeTimeout
	Prefix      string        // lock.WithPrefix
	For         time.Duration // how long to sample clocks and latency
	ACLUser     string        // whose rights to check by ACL DRYRUN; empty: one's own, by trying
	Single      string        // "cluster" or "sentinel": the nodes are one node of a lock; else empty
	NodeNames   []string      // lock.WithNodeNames; empty for the nodes' own
	Guard       GuardFlags    // what the services state about the servers

	nodes int       // asked
	now   time.Time // when they were
}

// Facts are those of one server.
type Facts struct {
	Node    string
	Address string // host:port
	Hosts   []string
	Err     error // why the server could not be asked; all else is zero then

	Server  Server
	Fsync   string // appendfsync; empty if CONFIG GET is not permitted
	Marked  string // the value of the marker
	Marker  stored.Marker
	Unread  error // why the marker is not known
	Clock   Clock
	Ping    Latency
	Script  Latency
	Refuses string   // the reply with which it refuses to write; empty if it does not
	Missing []string // grants that locks need and the user lacks
	Unasked error    // why not all rights could be checked

	// The replies with which the server refuses to be asked; nil if it does not.
	NoInfo    error // Server is empty then
	NoConfig  error
	NoScripts error // for whatever user
}

// Server is from INFO. Fields that a server does not have stay zero.
type Server struct {
	RunID       string
	Incarnation string // of the process, which the marker names: see redisinfo
	Version     string
	Mode        string // standalone, cluster or sentinel
	Role        string // master or slave
	Replicas    int
	Uptime      time.Duration
	Policy      string // maxmemory-policy
	MaxMemory   int64
	UsedMemory  int64
	EvictedKeys int64
	Eviction    redisinfo.Eviction
	AOF         bool
	AOFError    bool
	Loading     bool

	CountsEvicted bool     // INFO has evicted_keys
	NoSections    []string // of INFO, among those that are read
}

// Clock is a server's clock as seen from this machine.
type Clock struct {
	Samples     int
	Offset      time.Duration // positive: ahead of this machine
	OffsetError time.Duration // the offset is right within this, whatever the network did
	Drift       float64       // seconds gained per second; positive: runs fast
	DriftError  float64
}

// reached are those that answered.
func reached(facts []Facts) (up []Facts) {
	for _, f := range facts {
		if f.Err == nil {
			up = append(up, f)
		}
	}
	return up
}
