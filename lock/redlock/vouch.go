package redlock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// vouchTTL is how long the first round of a vouch stands without the second.
const vouchTTL = time.Minute

// Vouch declares that nobody can hold a lease on any of the given nodes, because they
// are new: servers that just started and were never used for locks. They may then
// vote at once instead of after a quarantine, until they restart: what is said is
// said of these processes, whose run_ids it names. It is an act, for a person
// (lockscope init) or for code that has just set the servers up, and must not become
// part of what a service does when it starts.
//
// All nodes must answer, be distinct masters, and know nothing of locks yet;
// otherwise Vouch fails, nothing is vouched for, and its error names every node that
// stood in the way, with [ErrNotNew] where it was used before. The nodes are marked
// in two rounds; a node that restarts between them is not vouched for. Where all
// nodes have been vouched for already, Vouch does nothing and returns nil; where only
// some have, and none was used since, it goes on where it was cut short.
//
// The nodes are given as to [New]. ctx bounds the whole; if it ends, or a node fails,
// between the rounds, some nodes may have been vouched for, which is safe, and the
// error names the others.
func Vouch(ctx context.Context, nodes []redis.UniversalClient) error {
	if err := checkClients(nodes); err != nil {
		return err
	}
	v := voucher{nonce: rand.Text()}
	defer v.close()
	for i, n := range nodes {
		c, ok := n.(*redis.Client)
		if !ok || c == nil {
			return fmt.Errorf("%w: node %d is a %T: only servers of their own can be vouched for", lock.ErrInvalidNode, i+1, n)
		}
		v.nodes = append(v.nodes, &vouchedNode{name: c.Options().Addr, conn: c.Conn()})
	}
	err := v.each(ctx, v.look)
	if err == nil {
		err = v.distinct()
	}
	if err != nil || v.done() {
		return v.failed(err)
	}
	if err := errors.Join(v.each(ctx, v.mark), v.each(ctx, v.unused)); err != nil {
		v.takeBack(ctx)
		return v.failed(err)
	}
	err = v.each(ctx, v.confirm)
	if err != nil {
		v.takeBack(ctx)
	}
	return v.failed(err)
}

// voucher is one Vouch.
type voucher struct {
	nonce string
	nodes []*vouchedNode
}

// vouchedNode is a node and the one connection to it: what is read and written on it
// is one server's.
type vouchedNode struct {
	name, runID, life string
	conn              *redis.Conn
}

func (n *vouchedNode) vouched() bool { return guard.VouchedFor(n.life, n.runID) }

func (v *voucher) each(ctx context.Context, do func(context.Context, *vouchedNode) error) error {
	var errs []error
	for _, n := range v.nodes {
		if err := do(ctx, n); err != nil {
			errs = append(errs, &lock.NodeError{Node: n.name, Op: lock.OpVouch, Err: err})
		}
	}
	return errors.Join(errs...)
}

func (v *voucher) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("lock: cannot vouch for these nodes: %w", err)
}

// look reads who the server is, and what was vouched for.
func (v *voucher) look(ctx context.Context, n *vouchedNode) error {
	conn := server{n.conn}
	text, err := conn.Info(ctx)
	if err != nil {
		return err
	}
	if n.runID, err = guard.MasterID(text); err != nil {
		return err
	}
	n.life, err = conn.Life(ctx)
	return err
}

func (v *voucher) distinct() error {
	first := make(map[string]string)
	for _, n := range v.nodes {
		if other, taken := first[n.runID]; taken {
			return &lock.NodeError{Node: n.name, Op: lock.OpVouch, Err: fmt.Errorf("%w: it is %s", driver.ErrDuplicate, other)}
		}
		first[n.runID] = n.name
	}
	return nil
}

// done reports that every node, as it runs now, was vouched for already.
func (v *voucher) done() bool {
	for _, n := range v.nodes {
		if !n.vouched() {
			return false
		}
	}
	return true
}

// mark is the first round: no other vouch is under way, and this server is there.
func (v *voucher) mark(ctx context.Context, n *vouchedNode) error {
	if n.vouched() {
		return nil // by a vouch that did not come to its end
	}
	marker := guard.Vouching(n.runID, v.nonce)
	set, err := n.conn.SetNX(ctx, guard.LifeKey, marker, vouchTTL).Result()
	if err != nil || set {
		return err
	}
	// The client may have sent it twice.
	if life, err := (server{n.conn}).Life(ctx); err != nil || life == marker {
		return err
	}
	return fmt.Errorf("%w: it was vouched for before, or another vouch is under way for at most %v", ErrNotNew, vouchTTL)
}

// unused requires that no lock was ever granted here: fence counters do not expire.
func (v *voucher) unused(ctx context.Context, n *vouchedNode) error {
	if keys, err := n.conn.DBSize(ctx).Result(); err == nil && keys <= 1 {
		return nil // nothing but the marker
	}
	keys := n.conn.Scan(ctx, 0, "lockscope:*", 1000).Iterator()
	for keys.Next(ctx) {
		if key := keys.Val(); key != guard.LifeKey {
			return fmt.Errorf("%w: it has keys %s, so it was used for locks before: it votes by itself once its quarantine is over",
				ErrNotNew, kindOf(key))
		}
	}
	return keys.Err()
}

// kindOf is the part of a key that says what is there. The rest may name an owner's token.
func kindOf(key string) string {
	parts := strings.SplitN(key, ":", 3)
	return strconv.Quote(strings.Join(parts[:min(len(parts), 2)], ":") + ":...")
}

// replaceMarker sets the marker to ARGV[2], or deletes it if that is empty, where it
// is exactly ARGV[1].
const replaceMarker = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
redis.call('SET', KEYS[1], ARGV[2])
return 1`

// confirm is the second round: nothing has happened to the server since the first.
func (v *voucher) confirm(ctx context.Context, n *vouchedNode) error {
	if n.vouched() {
		return nil
	}
	from, to := guard.Vouching(n.runID, v.nonce), guard.Vouched(n.runID, v.nonce)
	replaced, err := n.conn.Eval(ctx, replaceMarker, []string{guard.LifeKey}, from, to).Int()
	if err != nil || replaced == 1 {
		return err
	}
	if life, err := (server{n.conn}).Life(ctx); err != nil || life == to {
		return err
	}
	return fmt.Errorf("%w: it restarted or lost its data a moment ago", ErrNotNew)
}

// takeBack removes what the first round left; what it cannot reach expires.
func (v *voucher) takeBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lock.MaxNodeTimeout)
	defer cancel()
	_ = v.each(ctx, func(ctx context.Context, n *vouchedNode) error {
		return n.conn.Eval(ctx, replaceMarker, []string{guard.LifeKey}, guard.Vouching(n.runID, v.nonce), "").Err()
	})
}

func (v *voucher) close() {
	for _, n := range v.nodes {
		_ = n.conn.Close()
	}
}
