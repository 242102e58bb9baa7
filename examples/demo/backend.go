package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// backend is the system that the locks of one run are in: its servers, and what they
// can suffer.
type backend interface {
	// locker makes the lock of one service, on connections of its own.
	locker(instance string) (*engine.Engine, error)
	// describe says what runs, in lines for the user.
	describe() []string
	// reads are the flags with which lockscope top reads the same servers.
	reads() []string
	// faults is what goes wrong in a run, in order of time.
	faults(f *faults) []fault
	// scanned says where the scanner looks for leaked locks: nowhere without urls.
	scanned() (urls []string, prefix string)
	// close ends what was started for the run, in whatever state it is.
	close() error
}

// system is a kind of backend, and what of it has to be known before it runs.
type system struct {
	name     string // value of -backend
	starts   string // what the demo starts of it
	fenced   bool   // its leases have fencing tokens
	voting   bool   // the locks ask several servers, each of them for its vote
	shortest time.Duration
	minTTL   time.Duration

	// open starts servers; it fails before it has started any where a program is
	// missing. On error nothing is left of it.
	open func(context.Context, config) (backend, error)
}

// systems are all that -backend can name, the default first.
func systems() []system {
	const (
		// Faults need some room to be seen; elections, leases and sessions of whole seconds
		// need more.
		short, long = 3 * time.Second, 8 * time.Second
		// Package lock refuses shorter ones: there must be time for a node that hangs.
		minTTL = 4 * engine.MinNodeTimeout
		// A session lasts two and a half TTLs, and at least two ticks of the servers.
		minSessionTTL = 500 * time.Millisecond
	)
	return []system{
		{name: "redis", starts: "Redis servers", fenced: true, voting: true, shortest: short, minTTL: minTTL,
			open: openRedis},
		{name: "postgres", starts: "one PostgreSQL server", fenced: true, shortest: short, minTTL: minTTL,
			open: openPostgres},
		{name: "etcd", starts: "a cluster of three members", fenced: true, shortest: long, minTTL: minTTL,
			open: openEtcd},
		{name: "zookeeper", starts: "an ensemble of three servers", fenced: true, shortest: long, minTTL: minSessionTTL,
			open: openZooKeeper},
		{name: "redsync", starts: "five Redis servers", voting: true, shortest: short, minTTL: minTTL,
			open: openRedsync},
	}
}

// names lists systems as -backend takes them.
func names(all []system) string {
	var list []string
	for _, s := range all {
		list = append(list, s.name)
	}
	return strings.Join(list, ", ")
}

// answer is how long a server may take to answer unless the user says otherwise. Where
// a quorum goes on without a slow one that can be short. Where there is but one to ask,
// giving up early gains nothing.
func (s system) answer(ttl time.Duration) time.Duration {
	if s.voting {
		return engine.MinNodeTimeout
	}
	return min(ttl/4, engine.MaxNodeTimeout)
}

// silence is what live lines say while no server, or no quorum of them, answers.
func (s system) silence() string {
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
func (c config) options(instance string) []lock.Option {
	return []lock.Option{
		lock.WithInstance(instance), lock.WithDefaults(lock.TTL(c.ttl)), lock.WithNodeTimeout(c.answer),
		lock.WithCallSites(),
	}
}

// closing has the lock's Close end a client as well, which was made for it alone.
func closing(closeClient func() error) lock.Option {
	return engine.OnClose(closeClient)
}
