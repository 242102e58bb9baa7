package lanes

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// Command is one call of a script, from the moment it is handed to a node's lanes.
type Command struct {
	Call     driver.Call
	Script   *redisconn.Script
	Args     []any // shared with the commands of other nodes; the connection may add the last ones
	Compares Comparison
	To       Replier

	cmd     *redis.Cmd  // of the present try
	own     redis.Cmd   // the first of them, without an allocation of its own
	sight   guard.Sight // what its connection had seen of the server; of a vote
	refused error       // why it had no effect although it was sent; nil if it may have

	// Guarded by the mutex of the lanes.
	written  bool // it is in a batch that may be on its way
	answered bool
}

// isVote reports whether the guard decides if the command may be sent.
func (c *Command) isVote() bool { return c.Compares == ComparesMarker }

// isPeek reports whether it reads what a vote would count, and must not change anything.
func (c *Command) isPeek() bool { return c.Compares == ComparesMarkerToRead }

// Comparison is the state of the connection that the script compares with the server's marker. It is
// in the script's last arguments.
type Comparison int

// The comparisons.
const (
	ComparesNothing Comparison = iota
	ComparesMarker
	ComparesFingerprint  // and the marker, where the lock is put back
	ComparesMarkerToRead // and never begins a quarantine
)

// on returns the arguments on this connection.
func (c *Command) on(conn *connection) []any {
	switch c.Compares {
	case ComparesMarker:
		c.sight = conn.seen
		return with(c.Args, conn.expected)
	case ComparesMarkerToRead:
		return with(c.Args, conn.expected)
	case ComparesFingerprint:
		return with(c.Args, conn.fingerprint, conn.expected)
	}
	return c.Args
}

// with is a copy of args, which other nodes share, with these at its end.
func with(args []any, last ...any) []any {
	return append(append(make([]any, 0, len(args)+len(last)), args...), last...)
}

// Replier receives the reply to a command, or why there is none.
type Replier interface{ Reply(val any, err error) }

// Sight returns the sight of the connection that carried a vote.
func (c *Command) Sight() guard.Sight { return c.sight }

// refuse answers a command that was not sent.
func (c *Command) refuse(why error) { c.To.Reply(nil, fmt.Errorf("%w: %w", driver.ErrNotSent, why)) }

// expire answers a command whose deadline has passed. If it was written, the server may still run it.
func (c *Command) expire() {
	if c.written {
		c.To.Reply(nil, driver.ErrTimeout)
		return
	}
	c.refuse(driver.ErrTimeout)
}

// byHash makes the command with the script's hash.
func (c *Command) byHash(ctx context.Context, conn *connection) redis.Cmder {
	c.own = *redis.NewCmd(ctx, c.on(conn)...)
	c.cmd = &c.own
	return c.cmd
}

// bySource makes the command with the script's source, for a server that does not know the hash.
func (c *Command) bySource(ctx context.Context, conn *connection) redis.Cmder {
	args := append([]any{"eval", c.Script.Source}, c.on(conn)[2:]...)
	c.cmd = redis.NewCmd(ctx, args...)
	return c.cmd
}

// unknownScript reports whether the server did not know the hash: the command had no effect.
func (c *Command) unknownScript() bool { return redisconn.IsUnknownScript(c.cmd.Err()) }

// finish answers with the server's reply.
func (c *Command) finish() {
	if c.refused != nil {
		c.refuse(c.refused)
		return
	}
	switch err := c.cmd.Err(); {
	case err == nil:
	case c.Call.Wait != nil && c.Call.Wait.Err() != nil && isBroken(err):
		c.To.Reply(nil, fmt.Errorf("%w (%v)", driver.ErrUnheard, err))
		return
	default:
		c.To.Reply(nil, scripts.Classify(err))
		return
	}
	c.To.Reply(c.cmd.Val(), nil)
}
