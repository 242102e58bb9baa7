package pglock

import (
	"fmt"
	"regexp"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

const (
	// DefaultSchema is where tables and functions are.
	DefaultSchema = "lockscope"
	// DefaultConnections is how many commands may be under way at one time.
	DefaultConnections = 8
	// PruneAfter is for how long nobody has had a lock before its row may be forgotten.
	PruneAfter = 24 * time.Hour
)

// settings are the options of this package.
type settings struct {
	schema      string
	connections int32
	listen      string // connection string; "": as the pool connects
	poll        bool   // do not listen at all
	enforced    bool
}

// WithSchema says in which schema [Migrate] has put what is needed, instead of
// [DefaultSchema].
func WithSchema(name string) lock.Option {
	return engine.DriverOption(func(s *settings) { s.schema = name })
}

// WithConnections bounds the connections for commands, instead of [DefaultConnections].
// One more listens.
func WithConnections(n int) lock.Option {
	return engine.DriverOption(func(s *settings) { s.connections = int32(min(max(n, 0), 1000)) })
}

// WithListener gives the connection string by which waiters listen for their turn, where
// the pool goes through a pooler that keeps no session (pgbouncer in transaction mode):
// that of the server itself.
func WithListener(connString string) lock.Option {
	return engine.DriverOption(func(s *settings) { s.listen = connString })
}

// WithoutListener has waiters look again and again, every lock.WithPollInterval, where no
// connection of theirs can listen.
func WithoutListener() lock.Option {
	return engine.DriverOption(func(s *settings) { s.poll = true })
}

// WithFailoverQuarantine makes a server that was promoted, or restored from a backup,
// grant nothing until every lock that it may have forgotten has run out: lock.WithMaxTTL
// after the first call it gets. Needed where standbys may be promoted that the former
// primary has not waited for (synchronous_standby_names); without it a failover is told
// by Trace.NodeRestart and two leases may be valid.
func WithFailoverQuarantine() lock.Option {
	return engine.DriverOption(func(s *settings) { s.enforced = true })
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

func (s *settings) validate() error {
	switch {
	case !schemaName.MatchString(s.schema):
		return fmt.Errorf("%w: WithSchema(%q): lower-case letters, digits and _, at most 63", lock.ErrInvalidOption,
			s.schema)
	case s.connections < 1:
		return fmt.Errorf("%w: WithConnections: at least 1", lock.ErrInvalidOption)
	case s.poll && s.listen != "":
		return fmt.Errorf("%w: WithListener and WithoutListener", lock.ErrInvalidOption)
	}
	return nil
}

func validSchema(name string) error { return (&settings{schema: name, connections: 1}).validate() }
