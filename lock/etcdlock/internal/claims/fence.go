package etcdlock

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
)

// All times of this file are microseconds.
const (
	// fenceLead is how far ahead of the clock tokens begin: a lock on Redis may have had
	// tokens of a clock that is 10 s ahead, and runs of 1 s.
	fenceLead = 20_000_000
	// fenceLag is how far tokens fall behind the clock before the base is raised. What is
	// older than that may come back from a snapshot, and no token is granted again.
	fenceLag = 60_000_000
	maxFence = 1<<53 - 1
)

// base is what the create revision of a claim is added to. It only ever rises, and every
// transaction that makes a claim reads it: in the order of the claims so do the tokens.
type base struct {
	value uint64
	mod   int64 // revision at which it was written; 0 if it never was
}

// fenceBase is the base as this process saw it last.
type fenceBase struct {
	key string

	mu    sync.Mutex
	last  base
	at    int64 // a revision at which it was so
	raise bool  // whatever the clock says: the cluster's history has gone back
}

// due reports that no token may be granted from the base as it is.
func (f *fenceBase) due(floor uint64) (base, int64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, f.at, f.raise || f.last.mod == 0 || lags(f.last.value+uint64(f.at), floor)
}

func lags(fence, floor uint64) bool { return fence+fenceLag < min(floor, maxFence/2) }

func (f *fenceBase) set(b base, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.at = b, at
}

// mustRaise has the base raised before the next claim.
func (f *fenceBase) mustRaise() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raise = true
}

func (f *fenceBase) raised() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raise = false
}

// read takes the base out of a reply.
func (f *fenceBase) read(resp *clientv3.GetResponse, at int64) (base, error) {
	var b base
	if len(resp.Kvs) > 0 {
		kv := resp.Kvs[0]
		value, err := strconv.ParseUint(string(kv.Value), 10, 64)
		if err != nil || value > maxFence || value+uint64(at) > maxFence {
			return b, fmt.Errorf("%w: key %q has value %.40q: find out who set it", driver.ErrFenceCounter, f.key,
				kv.Value)
		}
		b = base{value: value, mod: kv.ModRevision}
	}
	f.set(b, at)
	return b, nil
}

// ready makes sure that the base exists and is not too far behind the clock. If several processes
// raise it at once, one succeeds.
func (n *node) ready(ctx context.Context, floor uint64) error {
	f := &n.fence
	for range 3 {
		last, at, due := f.due(floor)
		if !due {
			return nil
		}
		next := max(last.value, min(floor, maxFence/2)+fenceLead-uint64(at))
		known := n.revision()
		resp, _, err := n.commit(ctx,
			[]clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(f.key), "=", last.mod)},
			[]clientv3.Op{clientv3.OpPut(f.key, strconv.FormatUint(next, 10))}, []clientv3.Op{clientv3.OpGet(f.key)})
		if err != nil {
			return n.fail(err)
		}
		n.observe(resp.Header, known)
		if resp.Succeeded {
			f.set(base{value: next, mod: resp.Header.Revision}, resp.Header.Revision)
			f.raised()
			return nil
		}
		if _, err := f.read((*clientv3.GetResponse)(resp.Responses[0].GetResponseRange()),
			resp.Header.Revision); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: key %q keeps changing: find out who writes it", driver.ErrUnreachable, f.key)
}
