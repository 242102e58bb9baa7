package diagnosis

import (
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/lock/redlock/stored"
)

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

// Latency is a distribution of round trips. A server that stops for a while delays one call of a series, and
// prevents others. The prevented calls count as samples.
type Latency struct {
	Count    int           // samples: answers, failures, and the calls that would have been made meanwhile
	Answered int           // calls that were answered, however late
	Missed   int           // samples that failed or were not answered within the node timeout
	P50, P99 time.Duration // of all samples; one that failed took at least the node timeout
	Err      error         // of the last call that failed
}

// quarantined reports whether lockscope keeps restarted nodes silent.
func (p Policy) quarantined() bool { return p.nodes >= guard.EnforcedFrom && p.Single == "" }

// clustered reports whether the servers are a Redis Cluster, which has no markers.
func (p Policy) clustered() bool { return p.Single == "cluster" }

// knownRole reports whether the server says whether it is a master.
func (s Server) knownRole() bool { return s.Role == "master" || s.Role == "slave" }

// ReachTimeout is how long one question may take.
const ReachTimeout = inspect.ReachTimeout
