package redsynclock

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// New returns an engine for the pools that you would give to redsync.New. Each pool is a node, with
// redsync mutexes of its own. Nodes are named pool1, pool2 and so on, since a pool does not know its
// address; lock.WithNodeNames sets other names.
//
// New accepts the options of package lock and of this package. It does not contact a server. It fails
// with lock.ErrInvalidOption, lock.ErrInvalidTTL or lock.ErrInvalidNode. Close the engine when you are
// done with it; the pools stay the caller's.
func New(pools []redis.Pool, opts ...lock.Option) (*engine.Engine, error) {
	var sets []set
	for i, p := range pools {
		if p == nil {
			return nil, fmt.Errorf("%w: pool %d is nil", lock.ErrInvalidNode, i+1)
		}
		sets = append(sets, set{name: "pool" + strconv.Itoa(i+1), redsync: redsync.New(p), pool: p, first: i})
	}
	return newEngine(sets, opts)
}

// Wrap is like [New], for the result of redsync.New. Its pools are not accessible, so they are one
// node named redsync, and redsync counts their votes. Errors do not name the holder. Prefer New, which
// reports each pool and the holder.
func Wrap(r *redsync.Redsync, opts ...lock.Option) (*engine.Engine, error) {
	if r == nil {
		return nil, fmt.Errorf("%w: the Redsync is nil", lock.ErrInvalidNode)
	}
	return newEngine([]set{{name: "redsync", redsync: r}}, opts)
}

// set is the Redsync of one node.
type set struct {
	name    string
	redsync *redsync.Redsync
	pool    redis.Pool // the only pool of redsync; nil if its pools are not accessible
	first   int        // how many pools the nodes before have
}

// noPrefix stands for "no prefix given": no mutex has this name.
const noPrefix = "lockscope: no prefix"

func newEngine(sets []set, opts []lock.Option) (*engine.Engine, error) {
	mutex, err := mutexOptions(opts, len(sets))
	if err != nil {
		return nil, err
	}
	if err := ignored(mutex, engineIgnores); err != nil {
		return nil, err
	}
	base, err := settingsFor(len(sets), observe(mutex).expiry, opts)
	if err != nil {
		return nil, err
	}
	if _, err := settingsOf(base, settings{}); err != nil {
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

// settingsFor makes the expiry of redsync's mutexes the default TTL.
func settingsFor(nodes int, expiry time.Duration, opts []lock.Option) (*engine.Settings, error) {
	given := slices.Concat([]lock.Option{
		lock.WithPrefix(noPrefix), lock.WithPollInterval(DefaultPollInterval),
		lock.WithMaxTTL(max(expiry, lock.DefaultMaxTTL)),
	}, opts)
	base, err := engine.NewSettings(nodes, slices.Concat([]lock.Option{lock.WithDefaults(lock.TTL(expiry))}, given)...)
	if err == nil {
		return base, nil
	}
	if _, other := engine.NewSettings(nodes, given...); other != nil {
		return nil, other
	}
	// The caller has not given WithDefaults, which the error blames.
	return nil, fmt.Errorf("redsynclock: the expiry of redsync's mutexes is the default TTL: %w; "+
		"set the expiry with WithMutexOptions(redsync.WithExpiry(d))", errors.Unwrap(err))
}

// mutexOptions returns redsync's options among opts.
func mutexOptions(opts []lock.Option, nodes int) ([]redsync.Option, error) {
	// Their expiry must be known before the options of package lock are checked against it.
	base, err := engine.NewSettings(nodes, append(append([]lock.Option{}, opts...), lock.WithMaxTTL(longestTTL))...)
	if err != nil {
		return nil, err
	}
	s, err := settingsOf(base, settings{})
	return s.mutex, err
}
