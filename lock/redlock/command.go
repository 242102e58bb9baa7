package redlock

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// command is one call of a script, from the moment it is handed to a node's lanes.
type command struct {
	ctx      context.Context // for its values
	deadline time.Time
	wait     context.Context // of a caller that only waits; may be nil
	script   *script
	args     []any // shared with the commands of other nodes; the last may be the connection's to add
	compared compared
	to       replier

	cmd     *redis.Cmd  // of the present try
	sight   guard.Sight // what its connection had seen of the server; of a vote
	refused error       // why it had no effect although it was sent

	// Guarded by the mutex of the lanes.
	written  bool // it is in a batch that may be on its way
	answered bool
}

// isVote reports that the guard decides whether the command may be sent.
func (c *command) isVote() bool { return c.compared == comparedMarker }

// compared is what of the connection the script compares with the server's marker: its
// last arguments.
type compared int

const (
	comparedNothing compared = iota
	comparedMarker
	comparedFingerprint // and the marker, where the lock is put back
)

// on are the arguments on this connection.
func (c *command) on(conn *connection) []any {
	switch own := c.args[:len(c.args):len(c.args)]; c.compared {
	case comparedMarker:
		c.sight = conn.seen
		return append(own, conn.expected)
	case comparedFingerprint:
		return append(own, conn.fingerprint, conn.expected)
	}
	return c.args
}

// replier takes what became of a command: the reply, or why there is none.
type replier interface{ reply(val any, err error) }

// refuse answers a command that was not sent.
func (c *command) refuse(why error) { c.to.reply(nil, fmt.Errorf("%w: %w", driver.ErrNotSent, why)) }

// expire answers a command that ran out of time. The server may still get to see it if
// it was written.
func (c *command) expire() {
	if c.written {
		c.to.reply(nil, driver.ErrTimeout)
		return
	}
	c.refuse(driver.ErrTimeout)
}

// byHash makes the command that is sent, by the script's hash.
func (c *command) byHash(ctx context.Context, conn *connection) redis.Cmder {
	c.cmd = redis.NewCmd(ctx, c.on(conn)...)
	return c.cmd
}

// bySource makes it anew with the script's text, for a server that does not know it.
func (c *command) bySource(ctx context.Context, conn *connection) redis.Cmder {
	args := append([]any{"eval", c.script.Source}, c.on(conn)[2:]...)
	c.cmd = redis.NewCmd(ctx, args...)
	return c.cmd
}

// unknownScript reports that the server did not know the hash: nothing was done.
func (c *command) unknownScript() bool { return redisconn.IsUnknownScript(c.cmd.Err()) }

// finish answers with what the server replied.
func (c *command) finish() {
	if c.refused != nil {
		c.refuse(c.refused)
		return
	}
	switch err := c.cmd.Err(); {
	case err == nil:
	case c.wait != nil && c.wait.Err() != nil && isBroken(err):
		c.to.reply(nil, fmt.Errorf("%w (%v)", driver.ErrUnheard, err))
		return
	default:
		c.to.reply(nil, classify(err))
		return
	}
	c.to.reply(c.cmd.Val(), nil)
}
