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

// peek describes the first place of a queue.
func (n *node) peek(dir string) (driver.PeekReply, error) {
	f, err := n.front(dir)
	if err != nil || f == nil {
		return driver.PeekReply{}, err
	}
	return n.holding(f.data, f.stat)
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
