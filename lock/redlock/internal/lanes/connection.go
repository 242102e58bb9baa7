package lanes

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// connection is one connection to a node's server. go-redis makes it, for this lane only. The hooks of the caller's
// client run before it.
type connection struct {
	own    *redis.Client // of this one connection
	sticky *redis.Conn   // on it
	hooked *redis.Conn   // the caller's hooks, and then sticky
	socket atomic.Pointer[net.Conn]
	opened time.Time
	broken error // what the guard met on it

	scripts *scripts.Set

	// What was seen of its server: see guard.Sight.
	seen                  guard.Sight
	expected, fingerprint any
}

// examine runs before the connection carries a command.
func (c *connection) examine(ctx context.Context, cn *redis.Conn, g *guard.Guard) (err error) {
	seen, err := g.Examine(ctx, c.scripts.Server(cn, c.sight))
	c.saw(seen)
	if err != nil {
		c.broken = err
	}
	return err
}

// saw sets the sight of the server, from this connection or another one to the same process.
func (c *connection) saw(s guard.Sight) {
	if s != c.seen || c.expected == nil {
		c.seen, c.expected, c.fingerprint = s, s.Expected(), s.Fingerprint()
	}
}

// sight returns the present sight.
func (c *connection) sight() guard.Sight { return c.seen }

// open connects, and has the server examined.
func (c *connection) open(ctx context.Context) error {
	_, err := c.scripts.Server(c.sticky, c.sight).Marker(ctx)
	if c.broken == nil && redisconn.IsReply(err) {
		return nil // a server replied: the guard decides what a refusal means
	}
	return err
}

// process sends commands and waits for their replies.
func (c *connection) process(ctx context.Context, cmds []redis.Cmder) {
	if len(cmds) == 1 {
		_ = c.hooked.Process(ctx, cmds[0])
		return
	}
	pipeline(ctx, c.hooked, cmds)
}

func pipeline(ctx context.Context, conn *redis.Conn, cmds []redis.Cmder) {
	p := conn.Pipeline()
	for _, cmd := range cmds {
		_ = p.Process(ctx, cmd)
	}
	_, _ = p.Exec(ctx)
}

// isSpent reports whether the caller's client would not use it any more: it has been idle for too long, or is too old.
func (c *connection) isSpent(idle time.Duration) bool {
	opt := c.own.Options()
	return opt.ConnMaxIdleTime > 0 && idle >= opt.ConnMaxIdleTime ||
		opt.ConnMaxLifetime > 0 && time.Since(c.opened) >= opt.ConnMaxLifetime
}

// stale reports whether the server has closed the connection, as far as that shows without using it.
func (c *connection) stale() bool {
	socket := c.socket.Load()
	return socket == nil || isStale(*socket)
}

// Process sends the guard's commands.
func (c *connection) Process(ctx context.Context, cmd redis.Cmder) error {
	err := c.sticky.Process(ctx, cmd)
	if isSpent(err) {
		c.broken = err
	}
	return err
}

// cut fails all reads and writes of the connection.
func (c *connection) cut() {
	if socket := c.socket.Load(); socket != nil {
		_ = (*socket).Close()
	}
}

func (c *connection) close() {
	_ = c.sticky.Close()
	_ = c.own.Close()
	c.cut()
}

// divert is the innermost of the caller's hooks. It sends commands to a connection of ours.
type divert struct{ to *redis.Conn }

func (h divert) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h divert) ProcessHook(redis.ProcessHook) redis.ProcessHook { return h.to.Process }

func (h divert) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		pipeline(ctx, h.to, cmds)
		return cmds[0].Err()
	}
}

// isBroken reports whether there was no reply.
func isBroken(err error) bool {
	return err != nil && !errors.Is(err, redis.Nil) && !redisconn.IsReply(err)
}

// isSpent reports whether a connection is useless after this error: it is broken, or go-redis has given it up and
// would repeat the error instead of sending.
func isSpent(err error) bool { return isBroken(err) || redisconn.IsGivenUp(err) }
