package zklock

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/lock/driver"
)

var _ driver.BlockingPeeker = (*node)(nil)

// Peek implements driver.BlockingPeeker. It creates no place and sets no watch. The counter is 0 for zk.Lock and
// Curator. The remaining time is a guess from the clocks of the ensemble and of this process.
func (n *node) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	look := func() (driver.PeekReply, error) {
		reply, err := n.peek(n.root + "/" + escape(req.Key))
		if err != nil {
			return driver.PeekReply{}, classify(err)
		}
		return reply, nil
	}
	return within(ctx, n, n.link.awaitReachable, look, nil)
}

// peek reads the first place of a queue, and again if that ends meanwhile.
func (n *node) peek(dir string) (reply driver.PeekReply, err error) {
	if _, err := n.link.Sync(n.root); err != nil && !errors.Is(err, zk.ErrNoNode) {
		return reply, err // without a sync this server may lag behind
	}
	for range tries {
		names, _, err := n.link.Children(dir)
		if errors.Is(err, zk.ErrNoNode) {
			return reply, nil
		}
		if err != nil {
			return reply, err
		}
		queue := queueOf(names)
		if len(queue) == 0 {
			return reply, nil
		}
		data, stat, err := n.link.Get(dir + "/" + queue[0])
		if errors.Is(err, zk.ErrNoNode) {
			continue
		}
		if err != nil {
			return reply, err
		}
		return n.holding(data, stat)
	}
	return reply, nil // it changes hands faster than it can be read
}

// holding describes the first place of a queue.
func (n *node) holding(data []byte, stat *zk.Stat) (driver.PeekReply, error) {
	reply := driver.PeekReply{Held: true, TTL: -1}
	if reply.Holder, reply.TTL = readRecord(data, stat.Mtime); reply.Holder == "" {
		reply.TTL = -1 // as long as its session lives
		return reply, nil
	}
	text, _, err := n.link.Get(n.root + "/" + baseName)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		return driver.PeekReply{}, err
	}
	if base, err := strconv.ParseUint(string(text), 10, 62); err == nil && base > 0 {
		reply.Counter = base + uint64(stat.Czxid)
	}
	return reply, nil
}
