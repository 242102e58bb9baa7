package lanes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/lockscope/lockscope/lock/redlock/internal/scripts"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
)

// equipment is shared by the carriers of a node.
type equipment struct {
	connector *Connector
	guard     *guard.Guard
	scripts   *scripts.Set
	ctx       context.Context // of dials, and of what the guard asks
}

// carrier sends the commands of its lane and answers them, on its own goroutine or on that of a caller
// that has borrowed the lane.
type carrier struct {
	equipment
	pool *pool
	lane *lane

	probes   bool // what is sent next is sent together with a probe of the server
	admitted []*Command
	cmds     []redis.Cmder
}

func (r *carrier) run() {
	defer r.drop()
	for r.pool.await(r.lane) {
		if !r.connect() {
			continue
		}
		r.pool.take(r.lane)
		if len(r.lane.inFlight) > 0 {
			r.carry()
		}
	}
}

// carryBorrowed sends the one command of a caller that has borrowed the lane.
func (r *carrier) carryBorrowed() {
	r.carry()
	if wasCut := r.pool.endLoan(r.lane); wasCut {
		r.drop()
	}
	r.pool.giveBack(r.lane)
}

// carry sends the lane's commands, and answers those that have not expired meanwhile.
func (r *carrier) carry() {
	sent := r.lane.inFlight
	var refusal error // of the votes and the peeks
	if votes := slices.ContainsFunc(sent, (*Command).isVote); votes || slices.ContainsFunc(sent, (*Command).isPeek) {
		if refusal = r.admit(votes); refusal != nil {
			sent = r.others()
		}
		r.lane.conn.saw(r.sight())
		r.probes = refusal == nil && r.guard.ProbeDue()
	}
	err := r.exchange(sent, (*Command).byHash)
	if err == nil {
		err = r.loadScripts(sent)
	}
	if err == nil {
		err = r.verify(sent)
	}
	r.lane.used = time.Now()
	for _, c := range r.pool.complete(r.lane) {
		if c.cmd == nil {
			c.refuse(refusal)
		} else {
			c.finish()
		}
	}
	clear(r.cmds)
	if err == nil {
		err = r.lane.conn.broken
	}
	if err == nil && errors.Is(refusal, driver.ErrReplica) && time.Since(r.lane.conn.opened) >= replicaLife {
		err = refusal
	}
	if err != nil {
		r.giveUp(err)
	}
}

// replicaLife is how long a connection to a replica is kept: its address may lead to the new master by now, and the old one
// closes no sockets.
const replicaLife = time.Second

// admit returns why the server's votes do not count, or nil if no reason is known.
func (r *carrier) admit(votes bool) error {
	if !votes {
		return r.guard.AdmitReader(r.ctx, r.server())
	}
	return r.guard.Admit(r.ctx, r.server())
}

// server is what the guard asks, on this connection.
func (r *carrier) server() scripts.Server { return r.scripts.Server(r.lane.conn, r.sight) }

// sight is the connection's, after the last probe of its server.
func (r *carrier) sight() guard.Sight { return r.guard.Renewed(r.lane.conn.seen) }

// verify asks a server that did not vote for its marker. Once the marker allows it, verify sends the
// votes, which had no effect, again.
func (r *carrier) verify(sent []*Command) error {
	var again []*Command
	for _, c := range sent {
		if c.isVote() && c.cmd.Err() == nil && scripts.IsUnproven(c.cmd.Val()) {
			again = append(again, c)
		}
	}
	if len(again) == 0 {
		return nil
	}
	if err := r.guard.Unproven(r.ctx, r.server()); err != nil {
		for _, c := range again {
			c.refused = err
		}
		return nil
	}
	r.lane.conn.saw(r.sight())
	return r.exchange(again, (*Command).byHash)
}

// others returns the commands that are neither votes nor peeks.
func (r *carrier) others() []*Command {
	r.admitted = r.admitted[:0]
	for _, c := range r.lane.inFlight {
		if !c.isVote() && !c.isPeek() {
			r.admitted = append(r.admitted, c)
		}
	}
	return r.admitted
}

// exchange sends the commands in one write and reads their replies. An error is the connection's, which
// is useless after it.
func (r *carrier) exchange(
	commands []*Command, form func(*Command, context.Context, *connection) redis.Cmder,
) (err error) {
	if len(commands) == 0 {
		return nil
	}
	ctx := context.Background()
	if len(commands) == 1 {
		ctx = commands[0].Call.Context
	}
	r.cmds = r.cmds[:0]
	for _, c := range commands {
		r.cmds = append(r.cmds, form(c, ctx, r.lane.conn))
	}
	var probe *redis.StringCmd
	if r.probes {
		r.probes, probe = false, redis.NewStringCmd(ctx, "info")
		r.cmds = append(r.cmds, probe)
	}
	defer func() {
		if v := recover(); v != nil { // of a hook of the caller's client
			err = fmt.Errorf("a hook of the client panicked: %v: correct the hook", v)
			for _, cmd := range r.cmds {
				cmd.SetErr(err)
			}
		}
	}()
	r.lane.conn.process(ctx, r.cmds)
	if probe != nil {
		r.guard.Probed(probe.Result())
	}
	for _, cmd := range r.cmds {
		if isSpent(cmd.Err()) {
			return cmd.Err()
		}
	}
	return nil
}

// loadScripts sends the commands whose scripts the server did not know again, with their sources. No
// command that depends on them was sent: the engine waits for their answers.
func (r *carrier) loadScripts(sent []*Command) error {
	var again []*Command
	for _, c := range sent {
		if c.unknownScript() {
			again = append(again, c)
		}
	}
	if len(again) == 0 {
		return nil
	}
	return r.exchange(again, (*Command).bySource)
}

// connect makes a connection unless there is a good one. It reports whether there is one. It refuses
// commands that no lane can send.
func (r *carrier) connect() bool {
	r.connector.check(r.ctx)
	if r.lane.conn != nil && !r.lane.fresh() {
		r.drop()
	}
	if r.lane.conn != nil {
		return true
	}
	if err := r.dial(); err != nil {
		for _, c := range r.pool.skip(r.lane) {
			c.refuse(err)
		}
		return false
	}
	return true
}

// dial makes the connection, unless another lane has just failed to.
func (r *carrier) dial() error {
	if err := r.pool.dialRefusal(); err != nil {
		return err
	}
	began, c := time.Now(), r.connector.connection(r.guard, r.scripts)
	r.lane.link.Store(c)
	if err := c.open(r.ctx); err != nil {
		r.lane.link.Store(nil)
		c.close()
		r.suspect(err)
		err = scripts.Classify(err)
		r.pool.failDial(began, err)
		return err
	}
	c.opened = time.Now()
	r.lane.conn, r.lane.used = c, c.opened
	r.pool.connect(r.lane)
	return nil
}

// giveUp drops a connection that failed.
func (r *carrier) giveUp(err error) {
	r.suspect(err)
	r.drop()
}

// suspect notes that the address may lead to another server by now.
func (r *carrier) suspect(err error) {
	if redisconn.IsGivenUp(err) || driver.ClassOf(scripts.Classify(err)).Silent() {
		r.connector.suspect()
	}
}

func (r *carrier) drop() {
	if r.lane.conn == nil {
		return
	}
	r.lane.link.Store(nil)
	r.lane.conn.close()
	r.lane.conn = nil
	r.pool.disconnect(r.lane)
}
