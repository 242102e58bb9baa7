package pglock

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// New returns an engine for the server that pool connects to. Run [Migrate] there first.
//
// The engine opens connections of its own, on demand and with the configuration of pool. It does
// not use pool, which stays the caller's. Its connections prepare no statements, so they work
// through pgbouncer.
//
// New accepts the options of package lock and of this package. It does not contact the server. It
// fails with lock.ErrInvalidOption, lock.ErrInvalidTTL or lock.ErrInvalidNode. Close the engine when you
// are done with it.
func New(pool *pgxpool.Pool, opts ...lock.Option) (*engine.Engine, error) {
	if pool == nil {
		return nil, fmt.Errorf("%w: the pool is nil", lock.ErrInvalidNode)
	}
	return newEngine(pool.Config().Copy(), opts)
}

// Open is like [New], for a connection string: a URL or key=value pairs, as psql takes them.
func Open(connString string, opts ...lock.Option) (*engine.Engine, error) {
	config, err := pgxpool.ParseConfig(connString)
	if err != nil {
		return nil, fmt.Errorf("%w: Open: %w", lock.ErrInvalidNode, malformed(err))
	}
	return newEngine(config, opts)
}

// malformed replaces an error about a connection string. That of pgx has the string, and removes its password only as far
// as pgx understands the string.
func malformed(err error) error {
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the connection string names a file that cannot be read: %w", file)
	}
	return errMalformed
}

var errMalformed = errors.New("the connection string cannot be parsed (not shown, as it may contain a password): " +
	"use postgres://user:password@host:port/database or key=value pairs, correct its settings, and percent-encode " +
	"special characters of the password in a URL")

func newEngine(config *pgxpool.Config, opts []lock.Option) (*engine.Engine, error) {
	base, err := engine.NewSettings(1, opts...)
	if err != nil {
		return nil, err
	}
	s, err := settingsOf(base, settings{schema: DefaultSchema, connections: DefaultConnections})
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	listen, before := config.ConnConfig, config.BeforeConnect
	if s.listen != "" {
		before = nil
		if listen, err = pgx.ParseConfig(s.listen); err != nil {
			return nil, fmt.Errorf("%w: WithListener: %w", lock.ErrInvalidOption, malformed(err))
		}
	}
	listener := newListener(listen, before)
	name := nameOf(config.ConnConfig)
	pool, err := openPool(config, s.connections)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lock.ErrInvalidNode, err)
	}
	base.Namespace = config.ConnConfig.Database + "|" + s.schema
	base.Servers = []string{name}
	n := newNode(base.NodeName(0, name), pool, listener, s, base)
	e, err := base.NewEngine([]driver.Node{engine.Async(n)})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return e, nil
}

// nameOf returns host:port of a connection, without the user.
func nameOf(c *pgx.ConnConfig) string {
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}
