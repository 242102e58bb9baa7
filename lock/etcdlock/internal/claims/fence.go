package claims

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
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
	// maxRaises is how many changes by others ready may meet.
	maxRaises = 3
)

// base is what the create revision of a claim is added to. It only ever rises, and every
// transaction that makes a claim reads it: in the order of the claims so do the tokens.
type base struct {
	value uint64
	mod   int64 // revision at which it was written; 0 if it never was
}

// fences is the base as this process saw it last.
type fences struct {
	store *store.Store
	key   string

	mu      sync.Mutex
	last    base
	at      int64 // a revision at which it was so
	rewinds int   // of the cluster's history, for which the base was raised
}

// due reports that no token may be granted from the base as it is. It is raised after each rewind, whatever the clock says:
// the revisions since the snapshot come again.
func (f *fences) due(floor uint64, rewinds int) (base, int64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, f.at, f.rewinds < rewinds || f.last.mod == 0 || lags(f.last.value+uint64(f.at), floor)
}

func lags(fence, floor uint64) bool { return fence+fenceLag < min(floor, maxFence/2) }

func (f *fences) set(b base, at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, f.at = b, at
}

// raised records that the base was raised after so many rewinds.
func (f *fences) raised(rewinds int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rewinds = max(f.rewinds, rewinds)
}

// read takes the base out of a reply.
func (f *fences) read(kvs []*mvccpb.KeyValue, at int64) (base, error) {
	var b base
	if len(kvs) > 0 {
		value, err := strconv.ParseUint(string(kvs[0].Value), 10, 64)
		if err != nil || value > maxFence || value+uint64(at) > maxFence {
			return b, fmt.Errorf("%w: key %q has value %.40q: find out who set it", driver.ErrFenceCounter, f.key,
				kvs[0].Value)
		}
		b = base{value: value, mod: kvs[0].ModRevision}
	}
	f.set(b, at)
	return b, nil
}

// ready makes sure that the base exists and is not too far behind the clock. If several processes
// raise it at once, one succeeds.
func (f *fences) ready(ctx context.Context, floor uint64) error {
	for range maxRaises {
		rewinds := f.store.History.Rewinds()
		last, at, due := f.due(floor, rewinds)
		if !due {
			return nil
		}
		next := max(last.value, min(floor, maxFence/2)+fenceLead-uint64(at))
		answer, err := f.store.Commit(ctx,
			[]clientv3.Cmp{clientv3.Compare(clientv3.ModRevision(f.key), "=", last.mod)},
			[]clientv3.Op{clientv3.OpPut(f.key, strconv.FormatUint(next, 10))}, []clientv3.Op{clientv3.OpGet(f.key)})
		if err != nil {
			return err
		}
		if answer.Succeeded {
			f.set(base{value: next, mod: answer.Header.Revision}, answer.Header.Revision)
			f.raised(rewinds)
			return nil
		}
		if _, err := f.read(answer.Keys(0), answer.Header.Revision); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: key %q keeps changing: find out who writes it", driver.ErrUnreachable, f.key)
}
