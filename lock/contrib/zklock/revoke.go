package zklock

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

var _ driver.BlockingRevoker = (*node)(nil)

// Revoke implements driver.BlockingRevoker. A grant is called by the transaction that created its place. The mark
// stands in the data of that place, whose next renewal expects other data, and ends with the place. Places of zk.Lock
// and Curator get none: nobody would look for it.
func (n *node) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	mark := func() (driver.RevokeReply, error) {
		reply, err := n.revoke(ctx, req)
		if err != nil {
			return driver.RevokeReply{}, cutOff(err)
		}
		return reply, nil
	}
	return within(ctx, n, n.link.awaitReachable, mark, nil)
}

// revoke reads the first place, and marks it if it is the grant of the request. A place that is renewed at this moment
// is read again.
func (n *node) revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	dir := n.root + "/" + escape(req.Key)
	for range tries {
		f, err := n.front(dir)
		if err == nil && (f != nil && isReader(f.path) || len(req.Readers) > 0) {
			return n.revokeReaders(ctx, dir, req)
		}
		if err != nil || f == nil {
			return driver.RevokeReply{}, err
		}
		reply, err := n.revocable(f)
		if err != nil || req.Grant == "" || reply.Grant != req.Grant {
			return reply, err
		}
		said := parse(f.data, f.stat.Mtime)
		if reply.TTL, reply.Record = said.longest(), said.mark; said.mark != "" {
			return reply, nil
		}
		data := withMark(f.data, f.stat.Mtime, req.Record)
		_, err = n.repeat(ctx, func() error { _, err := n.link.Set(f.path, data, f.stat.Version); return err })
		if err == nil {
			reply.Record = req.Record
			return reply, nil
		}
		if !changed(err) {
			return driver.RevokeReply{}, err
		}
	}
	return driver.RevokeReply{}, errChanging(dir)
}

// revocable describes the first place of a queue.
func (n *node) revocable(f *front) (driver.RevokeReply, error) {
	seen, err := n.holding(f.data, f.stat)
	if err != nil {
		return driver.RevokeReply{}, err
	}
	reply := driver.RevokeReply{Held: true, Counter: seen.Counter, TTL: seen.TTL, Holder: seen.Holder}
	if seen.Holder != "" {
		reply.Grant = strconv.FormatInt(f.stat.Czxid, 10)
	}
	return reply, nil
}

// front is the first place of a queue.
type front struct {
	path string
	data []byte
	stat *zk.Stat
}

// front reads the first place of a queue, and again if that ends meanwhile. It returns nil if there is none.
func (n *node) front(dir string) (*front, error) {
	if _, err := n.link.Sync(n.root); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return nil, err // without a sync this server may lag behind
	}
	for range tries {
		names, _, err := n.link.Children(dir)
		if errors.Is(err, zk.ErrNoNode) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		queue := queueOf(names)
		if len(queue) == 0 {
			return nil, nil
		}
		f := &front{path: dir + "/" + queue[0]}
		if f.data, f.stat, err = n.link.Get(f.path); !errors.Is(err, zk.ErrNoNode) {
			return f, err
		}
	}
	return nil, nil // it changes hands faster than it can be read
}
