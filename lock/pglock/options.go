package pglock

import (
	"fmt"
	"regexp"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

const (
	// DefaultSchema is the schema of the tables and functions.
	DefaultSchema = "lockscope"
	// DefaultConnections is how many commands may run at the same time.
	DefaultConnections = 8
	// PruneAfter is how long a lock must be unused before its row may be deleted.
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

// option is an Option of this package.
type option struct {
	lock.DriverOption
	set func(*settings)
}

// settingsOf applies the options of this package among those of base to defaults.
func settingsOf(base *engine.Settings, defaults settings) (settings, error) {
	err := base.ForDriver(func(o lock.Option) bool {
		own, ok := o.(option)
		if ok {
			own.set(&defaults)
		}
		return ok
	})
	return defaults, err
}

// WithSchema names the schema that [Migrate] created, instead of [DefaultSchema].
func WithSchema(name string) lock.Option {
	return option{set: func(s *settings) { s.schema = name }}
}

// WithConnections sets the maximum number of connections for commands, instead of
// [DefaultConnections]. One more connection listens for notifications.
func WithConnections(n int) lock.Option {
	return option{set: func(s *settings) { s.connections = int32(min(max(n, 0), 1000)) }}
}

// WithListener sets the connection string on which waiters listen for their turn: that of the
// server itself, if the pool goes through a pooler such as pgbouncer. A session that may only read is taken for one of a
// former primary, and given up after 5 s.
func WithListener(connString string) lock.Option {
	return option{set: func(s *settings) { s.listen = connString }}
}

// WithoutListener makes waiters poll every lock.WithPollInterval, if no connection can listen.
func WithoutListener() lock.Option {
	return option{set: func(s *settings) { s.poll = true }}
}

// WithFailoverQuarantine stops grants for lock.WithMaxTTL after a server was promoted or restored
// from a backup. The time begins with the first call to the server. By its end, every lock that the
// server may have forgotten has expired.
//
// Use it if a standby may be promoted that the former primary did not wait for
// (synchronous_standby_names). Without it, two leases may be valid after such a failover, and
// Trace.NodeRestart reports it.
func WithFailoverQuarantine() lock.Option {
	return option{set: func(s *settings) { s.enforced = true }}
}

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

func (s *settings) validate() error {
	switch {
	case !schemaName.MatchString(s.schema):
		return fmt.Errorf("%w: WithSchema(%q): use 1 to 63 lower-case letters, digits and _, and no leading digit",
			lock.ErrInvalidOption, s.schema)
	case s.connections < 1:
		return fmt.Errorf("%w: WithConnections: less than 1: allow at least one connection", lock.ErrInvalidOption)
	case s.poll && s.listen != "":
		return fmt.Errorf("%w: WithListener and WithoutListener are both set: use one", lock.ErrInvalidOption)
	}
	return nil
}

func validSchema(name string) error { return (&settings{schema: name, connections: 1}).validate() }
