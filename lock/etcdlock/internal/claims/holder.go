package etcdlock

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
)

// revokeReaders lists the readers that hold the lock, and marks those that the request names. A reader that is named
// and not there has released the lock: its claim never comes back.
func (n *node) revokeReaders(
	ctx context.Context, directory string, req driver.RevokeRequest,
) (driver.RevokeReply, error) {
	claims, err := n.readers(ctx, directory)
	if err != nil {
		return driver.RevokeReply{}, err
	}
	found := make([]driver.RevokeReader, len(claims))
	errs := make([]error, len(claims))
	var wg sync.WaitGroup
	free := make(chan struct{}, readParallel)
	for i, c := range claims {
		free <- struct{}{}
		wg.Go(func() {
			found[i], errs[i] = n.revokeReader(ctx, directory, c, req)
			<-free
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return driver.RevokeReply{}, err
	}
	reply := driver.RevokeReply{}
	for _, r := range found {
		if r.Held {
			reply.Held, reply.Shared, reply.TTL = true, true, max(reply.TTL, r.TTL)
			reply.Readers = append(reply.Readers, r)
		}
	}
	for _, grant := range req.Readers {
		if !slices.ContainsFunc(reply.Readers, func(r driver.RevokeReader) bool { return r.Grant == grant }) {
			reply.Readers = append(reply.Readers, driver.RevokeReader{Grant: grant, Record: req.Record})
		}
	}
	return reply, nil
}

// readers are the claims that hold the lock together: the oldest ones, up to the first that is no reader's.
func (n *node) readers(ctx context.Context, directory string) ([]*mvccpb.KeyValue, error) {
	resp, err := repeat(ctx, func(ctx context.Context) (*clientv3.GetResponse, error) {
		return n.client.Get(ctx, directory, clientv3.WithPrefix(),
			clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	})
	if err != nil {
		return nil, err
	}
	for i, kv := range resp.Kvs {
		if !isReader(kv) {
			return resp.Kvs[:i], nil
		}
	}
	return resp.Kvs, nil
}

// revokeReader describes a reader, and marks it if the request names it. Held is false if it has ended since.
func (n *node) revokeReader(
	ctx context.Context, directory string, kv *mvccpb.KeyValue, req driver.RevokeRequest,
) (driver.RevokeReader, error) {
	r := driver.RevokeReader{Grant: strconv.FormatInt(kv.CreateRevision, 10), Held: true, Holder: string(kv.Value)}
	left, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseTimeToLiveResponse, error) {
		return n.client.TimeToLive(ctx, clientv3.LeaseID(kv.Lease))
	})
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound), err == nil && left.TTL < 0:
		return driver.RevokeReader{}, nil
	case err != nil:
		return driver.RevokeReader{}, err
	}
	r.TTL = time.Duration(left.GrantedTTL+1) * time.Second // see Revoke
	bases, err := readBases(ctx, n.client, n.fence.key, []*mvccpb.KeyValue{kv})
	if err != nil {
		return driver.RevokeReader{}, err
	}
	r.Counter = fenceAt(bases, kv.CreateRevision)
	if !slices.Contains(req.Readers, r.Grant) {
		return r, nil
	}
	var marked bool
	r.Record, marked, err = n.mark(ctx, n.markKey(directory, kv.CreateRevision), kv, req.Record, max(req.Keep, 2*r.TTL))
	if err != nil || !marked {
		return driver.RevokeReader{}, err
	}
	return r, nil
}
