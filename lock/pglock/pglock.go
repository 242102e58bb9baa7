package pglock

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// New makes an engine on the server that pool connects to. It makes connections of its
// own, as pool is configured, when they are needed: pool is not used and stays the
// caller's. They prepare no statements, whatever pool does, so that they work through
// pgbouncer. [Migrate] must have been run there. It takes the options of package lock and
// those of this package, and fails with lock.ErrInvalidOption or lock.ErrInvalidNode
// without asking the server. Close must follow.
func New(pool *pgxpool.Pool, opts ...lock.Option) (*engine.Engine, error) {
	if pool == nil {
		return nil, fmt.Errorf("%w: nil pool", lock.ErrInvalidNode)
	}
	return newEngine(pool.Config().Copy(), opts)
}

// Open is New for a connection string, a URL or key=value pairs as psql takes them.
func Open(connString string, opts ...lock.Option) (*engine.Engine, error) {
	config, err := pgxpool.ParseConfig(connString)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lock.ErrInvalidNode, err) // it shows no password
	}
	return newEngine(config, opts)
}

func newEngine(config *pgxpool.Config, opts []lock.Option) (*engine.Engine, error) {
	base, err := engine.NewSettings(1, opts...)
	if err != nil {
		return nil, err
	}
	s, err := engine.DriverSettings(base, settings{schema: DefaultSchema, connections: DefaultConnections})
	if err != nil {
		return nil, err
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	listen := config.ConnConfig.Copy()
	if s.listen != "" {
		if listen, err = pgx.ParseConfig(s.listen); err != nil {
			return nil, fmt.Errorf("%w: WithListener: %w", lock.ErrInvalidOption, err)
		}
	}
	name := nameOf(config.ConnConfig)
	pool, err := openPool(config, s.connections)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lock.ErrInvalidNode, err)
	}
	base.Namespace = config.ConnConfig.Database + "|" + s.schema
	base.Servers = []string{name}
	n := newNode(base.NodeName(0, name), pool, listen, s, base)
	e, err := base.NewEngine([]driver.Node{engine.Async(n)})
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return e, nil
}

// nameOf is where a connection leads, without who connects.
func nameOf(c *pgx.ConnConfig) string {
	return net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
}
