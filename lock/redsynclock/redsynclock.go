package redsynclock

import (
	"fmt"
	"strconv"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// New makes an engine on the pools that redsync.New would be given: each is a node, and
// asked by a redsync mutex of its own. Nodes are called pool1, pool2 and so on, for a
// pool does not say where it leads; lock.WithNodeNames calls them otherwise. It takes the
// options of package lock and those of this package, and fails with
// lock.ErrInvalidOption or lock.ErrInvalidNode without asking a server. The pools stay
// the caller's. Close must follow.
func New(pools []redis.Pool, opts ...lock.Option) (*engine.Engine, error) {
	var sets []set
	for i, p := range pools {
		if p == nil {
			return nil, fmt.Errorf("%w: pool %d is nil", lock.ErrInvalidNode, i+1)
		}
		sets = append(sets, set{name: "pool" + strconv.Itoa(i+1), redsync: redsync.New(p), pool: p})
	}
	return newEngine(sets, opts)
}

// Wrap is New for what redsync.New returned. Its pools cannot be taken out of it again:
// they are one node, called redsync, whose votes redsync counts, and nobody is told
// who holds a lock. New tells more.
func Wrap(r *redsync.Redsync, opts ...lock.Option) (*engine.Engine, error) {
	if r == nil {
		return nil, fmt.Errorf("%w: nil Redsync", lock.ErrInvalidNode)
	}
	return newEngine([]set{{name: "redsync", redsync: r}}, opts)
}

// set is what a node asks.
type set struct {
	name    string
	redsync *redsync.Redsync
	pool    redis.Pool // the only one of redsync; nil if they are not known
}

// noPrefix is the prefix unless lock.WithPrefix gives another: no mutex is called so.
const noPrefix = "lockscope: no prefix"

func newEngine(sets []set, opts []lock.Option) (*engine.Engine, error) {
	mutex, err := mutexOptions(opts, len(sets))
	if err != nil {
		return nil, err
	}
	expiry := observe(mutex).expiry
	base, err := engine.NewSettings(len(sets), append([]lock.Option{
		lock.WithPrefix(noPrefix), lock.WithPollInterval(DefaultPollInterval),
		lock.WithMaxTTL(max(expiry, lock.DefaultMaxTTL)), lock.WithDefaults(lock.TTL(expiry)),
	}, opts...)...)
	if err != nil {
		return nil, err
	}
	if _, err := engine.DriverSettings(base, settings{}); err != nil {
		return nil, err
	}
	if base.Prefix == noPrefix {
		base.Prefix = ""
	}
	var nodes []driver.Node
	for i, s := range sets {
		nodes = append(nodes, newNode(base.NodeName(i, s.name), s, mutex, base))
	}
	return base.NewEngine(nodes)
}

// mutexOptions are those of redsync among the options.
func mutexOptions(opts []lock.Option, nodes int) ([]redsync.Option, error) {
	// The expiry that they set has to be known before lock's own are checked against it.
	base, err := engine.NewSettings(nodes, append(append([]lock.Option{}, opts...), lock.WithMaxTTL(longestTTL))...)
	if err != nil {
		return nil, err
	}
	s, err := engine.DriverSettings(base, settings{})
	return s.mutex, err
}
