package lanes

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// checkIdle is how long a connection may have been idle and still be taken for good
// without a look at it.
const checkIdle = time.Millisecond

// lane is one connection, and the goroutine that owns it.
type lane struct {
	lanes *Lanes
	wake  chan struct{}
	conn  *connection // nil until it is needed, and after it broke
	used  time.Time   // when it carried the last reply
	looks bool        // what is sent next is sent together with a look at the server

	// Guarded by the mutex of the lanes.
	flight   []*Command // what is under way
	began    time.Time  // since when
	borrowed bool       // a caller sends its own command
	isCut    bool       // the connection was closed under it
	joined   bool       // it has a connection
	spared   bool       // it could not connect: others may take what is waiting

	done     []*Command // those of the flight that nobody had answered by the time of the replies
	unbarred []*Command // those of the flight that are no votes
	cmds     []redis.Cmder

	link atomic.Pointer[connection] // for cut
}

func (l *lane) run() {
	defer l.drop()
	for l.lanes.await(l) {
		if !l.connect() {
			continue
		}
		l.lanes.gather(l)
		if len(l.flight) > 0 {
			l.carry()
		}
	}
}

// fresh reports that the connection is as good as one can tell.
func (l *lane) fresh() bool { return time.Since(l.used) <= checkIdle || !l.conn.stale() }

// carry sends what is under way, and answers what nobody has answered meanwhile.
func (l *lane) carry() {
	sent := l.flight
	var barred error
	if slices.ContainsFunc(l.flight, (*Command).isVote) {
		if barred = l.lanes.guard.Admit(l.lanes.ctx, l.server()); barred != nil {
			sent = l.others()
		}
		l.conn.saw(l.sight())
		l.looks = barred == nil && l.lanes.guard.Look()
	}
	err := l.exchange(sent, (*Command).byHash)
	if err == nil {
		err = l.teach(sent)
	}
	if err == nil {
		err = l.prove(sent)
	}
	l.used = time.Now()
	for _, c := range l.lanes.landed(l) {
		if c.cmd == nil {
			c.refuse(barred)
		} else {
			c.finish()
		}
	}
	clear(l.cmds)
	if err == nil {
		err = l.conn.broken
	}
	if err != nil {
		l.broke(err)
	}
}

// server is what the guard asks, on this connection.
func (l *lane) server() scripts.Server { return l.lanes.scripts.Server(l.conn, l.sight) }

// sight is the connection's, after the last look at its server.
func (l *lane) sight() guard.Sight { return l.lanes.guard.Renewed(l.conn.seen) }

// prove asks, where the server did not vote for want of a proof that it remembers, for
// the proof, and has the votes repeated, which had no effect, once there is one.
func (l *lane) prove(sent []*Command) error {
	var again []*Command
	for _, c := range sent {
		if c.isVote() && c.cmd.Err() == nil && scripts.IsUnproven(c.cmd.Val()) {
			again = append(again, c)
		}
	}
	if len(again) == 0 {
		return nil
	}
	if err := l.lanes.guard.Unproven(l.lanes.ctx, l.server()); err != nil {
		for _, c := range again {
			c.refused = err
		}
		return nil
	}
	return l.exchange(again, (*Command).byHash)
}

// others are the commands that are no votes.
func (l *lane) others() []*Command {
	l.unbarred = l.unbarred[:0]
	for _, c := range l.flight {
		if !c.isVote() {
			l.unbarred = append(l.unbarred, c)
		}
	}
	return l.unbarred
}

// exchange sends the commands in one write and reads their replies. Its error is the
// connection's, which is of no use after it.
func (l *lane) exchange(commands []*Command, form func(*Command, context.Context, *connection) redis.Cmder) (err error) {
	if len(commands) == 0 {
		return nil
	}
	ctx := context.Background()
	if len(commands) == 1 {
		ctx = commands[0].Call.Context
	}
	l.cmds = l.cmds[:0]
	for _, c := range commands {
		l.cmds = append(l.cmds, form(c, ctx, l.conn))
	}
	var look *redis.StringCmd
	if l.looks {
		l.looks, look = false, redis.NewStringCmd(ctx, "info")
		l.cmds = append(l.cmds, look)
	}
	defer func() {
		if v := recover(); v != nil { // of a hook of the caller's client
			err = fmt.Errorf("a hook of the client panicked: %v", v)
			for _, cmd := range l.cmds {
				cmd.SetErr(err)
			}
		}
	}()
	l.conn.process(ctx, l.cmds)
	if look != nil {
		l.lanes.guard.Looked(look.Result())
	}
	for _, cmd := range l.cmds {
		if isSpent(cmd.Err()) {
			return cmd.Err()
		}
	}
	return nil
}

// teach sends those commands again, with their scripts, whose scripts the server did not
// know. Nothing that follows them was sent: the engine waits for their answers.
func (l *lane) teach(sent []*Command) error {
	var again []*Command
	for _, c := range sent {
		if c.unknownScript() {
			again = append(again, c)
		}
	}
	if len(again) == 0 {
		return nil
	}
	return l.exchange(again, (*Command).bySource)
}

// connect makes a connection unless there is one that is good. It reports whether there
// is.
func (l *lane) connect() bool {
	l.lanes.connector.check(l.lanes.ctx)
	if l.conn != nil && !l.fresh() {
		l.drop()
	}
	if l.conn != nil {
		return true
	}
	if err := l.lanes.mayDial(); err != nil {
		l.lanes.inVain(l, err, false)
		return false
	}
	c := l.lanes.connector.connection(l.lanes.guard, l.lanes.scripts)
	l.link.Store(c)
	if err := c.open(l.lanes.ctx); err != nil {
		l.link.Store(nil)
		c.close()
		l.doubt(err)
		l.lanes.inVain(l, scripts.Classify(err), true)
		return false
	}
	l.conn = c
	l.lanes.join(l, true)
	return true
}

// broke gives a connection up that failed.
func (l *lane) broke(err error) {
	l.doubt(err)
	l.drop()
}

// doubt notes that there may be another server by now.
func (l *lane) doubt(err error) {
	if redisconn.IsGivenUp(err) || driver.ClassOf(scripts.Classify(err)).Silent() {
		l.lanes.connector.doubt()
	}
}

func (l *lane) drop() {
	if l.conn == nil {
		return
	}
	l.link.Store(nil)
	l.conn.close()
	l.conn = nil
	l.lanes.join(l, false)
}

// cut ends what the lane waits for, from another goroutine.
func (l *lane) cut() {
	if c := l.link.Load(); c != nil {
		c.cut()
	}
}
