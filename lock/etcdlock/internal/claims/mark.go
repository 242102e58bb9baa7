package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
)

// A mark is a key of its own, for one claim. It has a lease, and is read in the transaction that proves a renewal.

var _ driver.BlockingRevoker = (*node)(nil)

// markKey is the key of the mark of the claim that this revision created. No resource has a directory that contains
// it.
func (n *node) markKey(directory string, created int64) string {
	return n.prefix + "/marks/" + strings.TrimPrefix(directory, n.prefix) + "m" + strconv.FormatInt(created, 10)
}

// Revoke implements driver.BlockingRevoker. A grant is called by the revision that created the claim. Only the claim
// that holds the lock gets a mark. One renewal may have been sent before the mark was made: the lock then lasts for a
// whole TTL of its lease.
func (n *node) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	if err := n.reachable(ctx); err != nil {
		return driver.RevokeReply{}, err
	}
	directory := n.directory(req.Key)
	reply, first, err := n.holds(ctx, directory)
	if err == nil && (reply.Shared || len(req.Readers) > 0) {
		reply, err = n.revokeReaders(ctx, directory, req)
		return reply, n.fail(err)
	}
	if err != nil || req.Grant == "" || reply.Grant != req.Grant {
		return reply, n.fail(err)
	}
	record, marked, err := n.mark(ctx, n.markKey(directory, first.CreateRevision), first, req.Record,
		max(req.Keep, 2*reply.TTL))
	switch {
	case err != nil:
		return driver.RevokeReply{}, n.fail(err)
	case !marked: // released since
		return driver.RevokeReply{}, nil
	}
	reply.Record = record
	return reply, nil
}

// holds describes the claim that holds the lock.
func (n *node) holds(ctx context.Context, directory string) (reply driver.RevokeReply, first *mvccpb.KeyValue,
	err error,
) {
	resp, err := repeat(ctx, func(ctx context.Context) (*clientv3.GetResponse, error) {
		return n.client.Get(ctx, directory, clientv3.WithFirstCreate()...)
	})
	if err != nil || len(resp.Kvs) == 0 {
		return reply, nil, err
	}
	first = resp.Kvs[0]
	seen, err := n.peek(ctx, directory)
	if err != nil || !seen.Held {
		return reply, nil, err
	}
	reply = driver.RevokeReply{Held: true, Counter: seen.Counter, TTL: -1, Holder: string(first.Value)}
	if reply.Shared = isReader(first); reply.Shared {
		return reply, first, nil
	}
	if len(first.Value) > 0 {
		reply.Grant = strconv.FormatInt(first.CreateRevision, 10)
	}
	if first.Lease == 0 {
		return reply, first, nil
	}
	left, err := repeat(ctx, func(ctx context.Context) (*clientv3.LeaseTimeToLiveResponse, error) {
		return n.client.TimeToLive(ctx, clientv3.LeaseID(first.Lease))
	})
	switch {
	case errors.Is(err, rpctypes.ErrLeaseNotFound), err == nil && left.TTL < 0:
		return driver.RevokeReply{}, nil, nil // it has ended since
	case err != nil:
		return driver.RevokeReply{}, nil, err
	}
	reply.TTL = time.Duration(left.GrantedTTL+1) * time.Second
	return reply, first, nil
}

// mark writes the record if the claim is there and has no mark. It returns the mark that stands; marked is false if
// the claim is gone.
func (n *node) mark(ctx context.Context, key string, claim *mvccpb.KeyValue, record string, keep time.Duration,
) (stands string, marked bool, err error) {
	l, err := n.grant(ctx, leaseSeconds(keep))
	if err != nil {
		return "", false, err
	}
	there := clientv3.Compare(clientv3.CreateRevision(string(claim.Key)), "=", claim.CreateRevision)
	resp, again, err := n.commit(ctx,
		[]clientv3.Cmp{there, clientv3.Compare(clientv3.CreateRevision(key), "=", 0)},
		[]clientv3.Op{clientv3.OpPut(key, record, clientv3.WithLease(l.id))},
		[]clientv3.Op{clientv3.OpGet(key), clientv3.OpGet(string(claim.Key))})
	if err != nil {
		return "", false, err
	}
	if resp.Succeeded {
		return record, true, nil
	}
	if !again { // no earlier try has put a key under it
		n.idle.put(l)
	}
	marks, claims := resp.Responses[0].GetResponseRange().Kvs, resp.Responses[1].GetResponseRange().Kvs
	if len(marks) == 0 || len(claims) == 0 || claims[0].CreateRevision != claim.CreateRevision {
		return "", false, nil
	}
	return string(marks[0].Value), true, nil
}

// markOp reads the mark of a claim.
func (n *node) markOp(c *claim) clientv3.Op { return clientv3.OpGet(n.markKey(c.directory, c.made)) }

// revoked is the refusal to renew a claim that is marked; nil if none of these keys is a mark.
func revoked(marks []*mvccpb.KeyValue) error {
	if len(marks) == 0 {
		return nil
	}
	return fmt.Errorf("etcdlock: %w", &driver.RevokedError{Record: string(marks[0].Value)})
}

func isRevoked(err error) bool {
	_, ok := errors.AsType[*driver.RevokedError](err)
	return ok
}
