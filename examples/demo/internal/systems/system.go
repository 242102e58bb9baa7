// Package systems has the systems that the demo can lock on: their servers, and the faults that they can suffer.
package systems

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/examples/demo/internal/faults"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// Backend is the system that the locks of one run are in: its servers, and what they
// can suffer.
type Backend interface {
	// Locker makes the lock of one service, on connections of its own.
	Locker(instance string) (*engine.Engine, error)
	// Describe says what runs, in lines for the user.
	Describe() []string
	// Reads are the flags with which lockscope top reads the same servers.
	Reads() []string
	// Faults is what goes wrong in a run, in order of time.
	Faults(f *faults.Faults) []faults.Fault
	// Scanned says where the scanner looks for leaked locks: nowhere without urls.
	Scanned() (urls []string, prefix string)
	// Close ends what was started for the run, in whatever state it is.
	Close() error
}

// Config says how to run the locks of one system.
type Config struct {
	Nodes  int           // how many Redis servers to start
	Redis  []string      // host:port or URL of the user's own servers; empty: start some
	TTL    time.Duration // of every lock
	Answer time.Duration // how long a node may take to
}

// System is a kind of Backend, and what of it has to be known before it runs.
type System struct {
	Name     string        // value of -backend
	Starts   string        // what the demo starts of it
	Fenced   bool          // its leases have fencing tokens
	voting   bool          // the locks ask several servers, each of them for its vote
	Shortest time.Duration // run
	MinTTL   time.Duration

	// Open starts servers; it fails before it has started any where a program is
	// missing. On error nothing is left of it.
	Open func(context.Context, Config) (Backend, error)
}

// All are all that -backend can name, the default first.
func All() []System {
	const (
		// Faults need some room to be seen; elections, leases and sessions of whole seconds
		// need more.
		short, long = 3 * time.Second, 8 * time.Second
		// Package lock refuses shorter ones: there must be time for a node that hangs.
		minTTL = 4 * engine.MinNodeTimeout
		// A session lasts two and a half TTLs, and at least two ticks of the servers.
		minSessionTTL = 500 * time.Millisecond
	)
	return []System{
		{Name: "redis", Starts: "Redis servers", Fenced: true, voting: true, Shortest: short, MinTTL: minTTL,
			Open: openRedis},
		{Name: "postgres", Starts: "one PostgreSQL server", Fenced: true, Shortest: short, MinTTL: minTTL,
			Open: openPostgres},
		{Name: "etcd", Starts: "a cluster of three members", Fenced: true, Shortest: long, MinTTL: minTTL,
			Open: openEtcd},
		{Name: "zookeeper", Starts: "an ensemble of three servers", Fenced: true, Shortest: long, MinTTL: minSessionTTL,
			Open: openZooKeeper},
		{Name: "redsync", Starts: "five Redis servers", voting: true, Shortest: short, MinTTL: minTTL,
			Open: openRedsync},
	}
}

// Names lists systems as -backend takes them.
func Names(all []System) string {
	var list []string
	for _, s := range all {
		list = append(list, s.Name)
	}
	return strings.Join(list, ", ")
}

// Answer is how long a server may take to answer unless the user says otherwise. Where
// a quorum goes on without a slow one that can be short. Where there is but one to ask,
// giving up early gains nothing.
func (s System) Answer(ttl time.Duration) time.Duration {
	if s.voting {
		return engine.MinNodeTimeout
	}
	return min(ttl/4, engine.MaxNodeTimeout)
}

// Silence is what live lines say while no server, or no quorum of them, answers.
func (s System) Silence() string {
	if s.voting {
		return "(no quorum)"
	}
	return "(no answer)"
}

// missing says what to install, also where the environment names a place and nothing is there.
func missing(notInstalled, err error) error {
	if errors.Is(err, notInstalled) {
		return err
	}
	return fmt.Errorf("%w: %w", notInstalled, err)
}

// options are those that the locks of every system take.
func (c Config) options(instance string) []lock.Option {
	return []lock.Option{
		lock.WithInstance(instance), lock.WithDefaults(lock.TTL(c.TTL)), lock.WithNodeTimeout(c.Answer),
		lock.WithCallSites(),
	}
}

// closing has the lock's Close end a client as well, which was made for it alone.
func closing(closeClient func() error) lock.Option {
	return engine.OnClose(closeClient)
}
