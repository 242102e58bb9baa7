package etcdlock

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
)

var _ driver.BlockingPeeker = (*node)(nil)

// Peek implements driver.BlockingPeeker. Its reads go through a majority of the members. The counter is 0 for a plain
// Mutex, and if the base of the holder's token was compacted.
func (n *node) Peek(ctx context.Context, req driver.PeekRequest) (driver.PeekReply, error) {
	if err := n.reachable(ctx); err != nil {
		return driver.PeekReply{}, err
	}
	reply, err := n.peek(ctx, n.directory(req.Key))
	if err != nil {
		return driver.PeekReply{}, n.fail(err)
	}
	return reply, nil
}

func (n *node) peek(ctx context.Context, directory string) (driver.PeekReply, error) {
	none := driver.PeekReply{}
	resp, err := repeat(ctx, func(ctx context.Context) (*clientv3.GetResponse, error) {
		return n.client.Get(ctx, directory, clientv3.WithFirstCreate()...)
	})
	if err != nil || len(resp.Kvs) == 0 {
		return none, err
	}
	first := resp.Kvs[0]
	reply := driver.PeekReply{Held: true, Holder: string(first.Value), TTL: -1}
	if first.Lease != 0 {
		left, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseTimeToLiveResponse, error) {
			return n.client.TimeToLive(ctx, clientv3.LeaseID(first.Lease))
		})
		switch {
		case errors.Is(err, rpctypes.ErrLeaseNotFound), err == nil && left.TTL < 0:
			return none, nil // it has ended since
		case err != nil:
			return none, err
		}
		reply.TTL = time.Duration(left.TTL+1) * time.Second // etcd rounds down
	}
	if len(first.Value) > 0 {
		bases, err := readBases(ctx, n.client, n.fence.key, []*mvccpb.KeyValue{first})
		if err != nil {
			return none, err
		}
		reply.Counter = fenceAt(bases, first.CreateRevision)
	}
	return reply, nil
}
