package migration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// node is one server, or a Redis Cluster.
type node struct {
	driver.BlockingLockOnly
	name   string
	client redis.UniversalClient // the node's own
	form   *form
}

var _ driver.BlockingNode = (*node)(nil)

// Name implements driver.BlockingNode.
func (n *node) Name() string { return n.name }

// System implements driver.BlockingNode.
func (n *node) System() string { return "redis" }

// Acquire implements driver.BlockingNode.
func (n *node) Acquire(ctx context.Context, req driver.AcquireRequest) (reply driver.AcquireReply, err error) {
	answer, err := n.run(ctx, n.form.acquire, req.Key, req.Token, req.TTL.Milliseconds(), req.Holder)
	fields, _ := answer.([]any)
	switch {
	case err != nil:
		return reply, err
	case len(fields) == 1 && fields[0] == int64(1):
		return driver.AcquireReply{Granted: true}, nil
	case len(fields) == 1 && fields[0] == int64(2):
		return reply, driver.ErrTombstone
	case len(fields) != 3:
		return reply, driver.ErrBadReply
	}
	left, known := fields[1].(int64)
	holder, text := fields[2].(string)
	if !known || !text {
		return reply, driver.ErrBadReply
	}
	return driver.AcquireReply{TTL: time.Duration(left) * time.Millisecond, Holder: holder}, nil
}

// Raise implements driver.BlockingNode. There are no counters.
func (n *node) Raise(context.Context, driver.RaiseRequest) (bool, error) {
	return false, errors.ErrUnsupported
}

// Extend implements driver.BlockingNode.
func (n *node) Extend(ctx context.Context, req driver.ExtendRequest) (driver.ExtendReply, error) {
	answer, err := n.run(ctx, n.form.extend, req.Key, req.Token, req.TTL.Milliseconds(), req.Holder, flag(req.Refill),
		flag(req.Rename))
	if err != nil {
		return 0, err
	}
	switch answer {
	case int64(0):
		return driver.ExtendGone, nil
	case int64(1):
		return driver.ExtendDone, nil
	case int64(2):
		return driver.ExtendRefilled, nil
	case int64(3):
		return driver.ExtendTaken, nil
	}
	return 0, driver.ErrBadReply
}

// Release implements driver.BlockingNode.
func (n *node) Release(ctx context.Context, req driver.ReleaseRequest) (reply driver.ReleaseReply, err error) {
	channel := ""
	if n.form.channel != nil {
		channel = n.form.channel(req.Key)
	}
	answer, err := n.run(ctx, n.form.release, req.Key, req.Token, req.Tombstone.Milliseconds(), channel)
	if err != nil {
		return reply, err
	}
	switch answer {
	case int64(0):
		reply.Found = driver.FoundNothing
	case int64(1):
		reply.Found = driver.FoundOwn
	case int64(2):
		reply.Found = driver.FoundOther
	default:
		return reply, driver.ErrBadReply
	}
	return reply, nil
}

// Leave implements driver.BlockingNode. There is no queue.
func (n *node) Leave(context.Context, driver.LeaveRequest) error { return nil }

// Subscribe implements driver.BlockingNode: waiters poll.
func (n *node) Subscribe(context.Context, string, func(string)) error { return driver.ErrNoWakeUps }

// Close implements driver.BlockingNode.
func (n *node) Close() error { return n.client.Close() }

// run runs a script with the keys of the lock and of the token's tombstone.
func (n *node) run(ctx context.Context, s *redisconn.Script, key, token string, args ...any) (any, error) {
	tombstone := "lockscope:tomb:{" + hashslot.Tag(key) + "}:" + token
	all := append([]any{2, key, tombstone, token}, args...)
	answer, err := s.Run(ctx, n.client, redisconn.Eval(), redisconn.Args(all...))
	return answer, classify(err)
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// redissonChannel is where Redisson's waiters listen: the name of the lock is the channel's hash tag.
func redissonChannel(key string) string {
	if strings.Contains(key, "{") {
		return "redisson_lock__channel:" + key
	}
	return "redisson_lock__channel:{" + key + "}"
}

// classify adds the class of an error, and takes away what a server quotes.
func classify(err error) error {
	if err == nil {
		return nil
	}
	err = redisconn.Scrub(err)
	switch {
	case redisconn.IsStranger(err):
		return fmt.Errorf("%w: %w: check the client's user, password and database", driver.ErrDenied, err)
	case redisconn.IsDenied(err):
		return fmt.Errorf("%w: %w: grant the user the commands and keys of the old library and lockscope:tomb:*",
			driver.ErrDenied, err)
	case redisconn.HasCode(err, "READONLY"):
		return fmt.Errorf("%w: %w: connect to the master", driver.ErrReplica, err)
	case redisconn.HasCode(err, "WRONGTYPE"):
		return fmt.Errorf("%w: %w: another library has a key of another type there: use its own form of keys",
			driver.ErrMisconfigured, err)
	}
	return err
}
