package etcdinspect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine/records"
)

// key is a key below a lock prefix.
type key struct {
	key     string
	lock    string // directory of its claims, if it is a claim
	claim   bool   // it is named after a lease, as by etcdlock and concurrency.Mutex
	reads   bool   // a claim of etcdlock that shares the lock with other readers
	lease   int64  // 0: none
	created int64  // revision
	changed int64  // revision of the last write
	holder  lock.Holder
	ttl     time.Duration // negative: never, or not asked for
}

func newKey(kv *mvccpb.KeyValue) *key {
	k := &key{key: string(kv.Key), lease: kv.Lease, created: kv.CreateRevision, changed: kv.ModRevision, ttl: -1}
	if at := strings.LastIndexByte(k.key, '/'); at >= 0 {
		name, reads := strings.CutPrefix(k.key[at+1:], "r")
		// Without a lease, the name is that of the lease which the key should have.
		if id, err := strconv.ParseInt(name, 16, 64); err == nil && (k.lease == 0 || id == k.lease) {
			k.lock, k.claim, k.reads = k.key[:at], true, reads
		}
	}
	if said, err := records.ParseHolder(string(kv.Value)); err == nil {
		k.holder = said
	}
	return k
}

// name is the holder, or what there is of it: a Mutex writes no value.
func (k *key) name() string {
	switch {
	case k.holder.Instance != "":
		return k.holder.Instance
	case k.lease == 0:
		return ""
	}
	return fmt.Sprintf("lease %x", k.lease)
}

// queue is the claims to a lock, the oldest first, or one key that is no claim.
type queue struct {
	keys []*key
	held int // how many of them hold the lock
}

func queuesOf(keys []*key) (all []queue) {
	at := make(map[string]int)
	for _, k := range keys {
		i, known := at[k.lock]
		if !k.claim || !known {
			i = len(all)
			all = append(all, queue{})
		}
		if k.claim {
			at[k.lock] = i
		}
		all[i].keys = append(all[i].keys, k)
	}
	for i := range all {
		q := &all[i]
		slices.SortFunc(q.keys, func(a, b *key) int { return cmp.Compare(a.created, b.created) })
		for q.held < len(q.keys) && q.keys[q.held].reads {
			q.held++
		}
		q.held = max(q.held, 1)
	}
	return all
}

// namedWaiters is how many waiters are named: the others are counted.
const namedWaiters = 3

// around says what a claim does in its queue, and who waits behind it.
func (q *queue) around(i int) string {
	k := q.keys[i]
	if !k.claim {
		return ""
	}
	text := "; it holds " + k.lock
	if i >= q.held {
		text = fmt.Sprintf("; it waits for %s behind %s", k.lock, inspect.Count(i, "other"))
	}
	behind := q.keys[i+1:]
	if i < q.held {
		behind = q.keys[q.held:]
	}
	var names []string
	for _, w := range behind[:min(len(behind), namedWaiters)] {
		names = append(names, cmp.Or(w.name(), w.key))
	}
	if more := len(behind) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) > 0 {
		text += "; behind it wait " + strings.Join(names, ", ")
	}
	return text
}
