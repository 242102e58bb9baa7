package redsynclock

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"

	"github.com/lockscope/lockscope/lock/driver"
)

// peekLua returns the value and the remaining milliseconds of a key. It ends in a write without effect, so that a
// replica says READONLY instead of what may be stale.
const peekLua = `
local value = redis.call('GET', KEYS[1])
if not value then
  redis.call('DEL', KEYS[1])
  return {}
end
redis.call('SET', KEYS[1], '', 'NX')
return {value, redis.call('PTTL', KEYS[1])}
`

var peekScript = sync.OnceValue(func() *redis.Script {
	sum := sha1.Sum([]byte(peekLua))
	return redis.NewScript(1, peekLua, hex.EncodeToString(sum[:]))
})

// errWrapped means that redsync asks several pools as one.
var errWrapped = fmt.Errorf("%w: a *redsync.Redsync does not show its pools: use New with the pools instead of Wrap",
	errors.ErrUnsupported)

// Peek implements driver.Node, on one pool. There are no counters.
func (n *node) Peek(call driver.Call, req *driver.PeekRequest, to driver.Answer[driver.PeekReply]) {
	if n.pool == nil {
		to.Answer(driver.PeekReply{}, errWrapped)
		return
	}
	ask(n, call, to, func(ctx context.Context) (driver.PeekReply, error) {
		reply, err := n.peek(ctx, req.Key)
		if err != nil {
			return driver.PeekReply{}, classify(&redsync.RedisError{Err: err})
		}
		return reply, nil
	}, nil)
}

func (n *node) peek(ctx context.Context, key string) (reply driver.PeekReply, err error) {
	conn, err := n.pool.Get(ctx)
	if err != nil {
		return reply, err
	}
	defer func() { _ = conn.Close() }()
	said, err := conn.Eval(peekScript(), key)
	if err != nil {
		return reply, err
	}
	fields, ok := said.([]any)
	if !ok || len(fields) != 0 && len(fields) != 2 {
		return reply, fmt.Errorf("%w: peek replied a %T", driver.ErrBadReply, said)
	}
	if len(fields) == 0 {
		return reply, nil
	}
	left, ok := fields[1].(int64)
	if !ok {
		return reply, fmt.Errorf("%w: peek replied a %T", driver.ErrBadReply, fields[1])
	}
	reply.Held, reply.TTL = true, remaining(time.Duration(left)*time.Millisecond)
	_, reply.Holder, _ = strings.Cut(text(fields[0]), "|")
	return reply, nil
}

// text is a bulk string, for which clients have two types.
func text(field any) string {
	if b, ok := field.([]byte); ok {
		return string(b)
	}
	s, _ := field.(string)
	return s
}
