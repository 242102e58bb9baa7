package migration

import (
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// DefaultPollInterval is the longest time between two attempts of a waiter. lock.WithPollInterval sets another.
const DefaultPollInterval = 100 * time.Millisecond

// StringKeys returns an engine for locks that are a string key with a TTL, set if it is not there: those of redsync,
// redislock, node-redlock, ShedLock and most code around SET NX PX. Its locks and theirs exclude each other. The key is
// prefix and the resource; prefix may be empty, and lock.WithPrefix has no effect.
//
// Each client is a server that votes: give all servers of redsync or node-redlock, and one otherwise. A
// *redis.ClusterClient is one server. The engine uses connections of its own, with the clients' options. The clients
// stay the caller's.
//
// StringKeys does not contact a server. It fails with lock.ErrInvalidNode or lock.ErrInvalidOption. Close the engine
// when you are done with it.
func StringKeys(prefix string, clients []redis.UniversalClient, opts ...lock.Option) (*engine.Engine, error) {
	return newEngine(stringForm(), prefix, clients, opts)
}

// RedissonKeys is like [StringKeys], for RLock of Redisson: a hash whose field names the holder. A release also
// publishes Redisson's message, on which its waiters try again. Fair, read/write and spin locks of Redisson have other
// keys beside the hash: do not use RedissonKeys with them.
func RedissonKeys(prefix string, client redis.UniversalClient, opts ...lock.Option) (*engine.Engine, error) {
	return newEngine(redissonForm(), prefix, []redis.UniversalClient{client}, opts)
}

func newEngine(f *form, prefix string, clients []redis.UniversalClient, opts []lock.Option) (*engine.Engine, error) {
	base, err := engine.NewSettings(len(clients),
		append([]lock.Option{lock.WithPollInterval(DefaultPollInterval)}, opts...)...)
	if err != nil {
		return nil, err
	}
	if err := base.ForDriver(func(lock.Option) bool { return false }); err != nil {
		return nil, err
	}
	base.Prefix = prefix
	var nodes []driver.Node
	for i, c := range clients {
		name, own, err := derive(c, base.LongestNodeTimeout())
		if err != nil {
			return nil, errors.Join(err, closeAll(nodes))
		}
		base.Servers = append(base.Servers, name)
		nodes = append(nodes, engine.Async(&node{name: base.NodeName(i, name), client: own, form: f}))
	}
	e, err := base.NewEngine(nodes)
	if err != nil {
		return nil, errors.Join(err, closeAll(nodes))
	}
	return e, nil
}

// derive makes a client whose calls end with their context and are not repeated.
func derive(given redis.UniversalClient, timeout time.Duration) (string, redis.UniversalClient, error) {
	limits := redisconn.Limits{Dial: timeout, Call: timeout, Pool: timeout}
	switch c := redisconn.Unwrap(given).(type) {
	case *redis.Client:
		if c != nil {
			return redisconn.Name(c.Options()), redis.NewClient(redisconn.Standalone(c, limits, nil)), nil
		}
	case *redis.ClusterClient:
		if c != nil {
			return redisconn.ClusterName(c.Options()), redis.NewClusterClient(redisconn.Cluster(c, limits, nil)), nil
		}
	}
	return "", nil, fmt.Errorf("%w: migration: %T: use a *redis.Client or a *redis.ClusterClient",
		lock.ErrInvalidNode, given)
}

func closeAll(nodes []driver.Node) (err error) {
	for _, n := range nodes {
		err = errors.Join(err, n.Close())
	}
	return err
}
