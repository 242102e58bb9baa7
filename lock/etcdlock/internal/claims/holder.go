package claims

import (
	"context"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
	"github.com/lockscope/lockscope/lock/internal/claimlist"
)

// Holder is a claim that holds a lock, as any process can read it.
type Holder struct {
	Record  string // holder record; "" for a plain Mutex
	Reads   bool
	Grant   string        // the revision that created the claim; "" for a plain Mutex, which reads no mark
	Fence   uint64        // 0 for a plain Mutex, and if the base of the token was compacted
	Left    time.Duration // until its etcd lease ends unless renewed; negative: never
	Longest time.Duration // until then if a renewal was sent before; negative: never

	directory string
	kv        *mvccpb.KeyValue
}

// Holder returns the claim that holds a lock: the oldest of the readers, if they do. It returns nil if there is none.
func (p *Protocol) Holder(ctx context.Context, key string) (*Holder, error) {
	directory := p.layout.directory(key)
	kvs, err := p.store.Get(ctx, directory, clientv3.WithFirstCreate()...)
	if err != nil || len(kvs) == 0 {
		return nil, err
	}
	return p.describe(ctx, directory, kvs[0])
}

// Readers returns the readers that hold a lock together.
func (p *Protocol) Readers(ctx context.Context, key string) (readers []*Holder, err error) {
	directory := p.layout.directory(key)
	kvs, err := p.store.Get(ctx, directory, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil || len(kvs) == 0 || !isReader(kvs[0]) {
		return nil, err
	}
	found := make([]*Holder, claimlist.Holders(kvs, isReader))
	err = claimlist.Parallel(len(found), func(i int) (err error) {
		found[i], err = p.describe(ctx, directory, kvs[i])
		return err
	})
	for _, h := range found {
		if h != nil {
			readers = append(readers, h)
		}
	}
	return readers, err
}

// describe returns nil if the claim has ended since.
func (p *Protocol) describe(ctx context.Context, directory string, claim *mvccpb.KeyValue) (*Holder, error) {
	h := &Holder{Record: string(claim.Value), Reads: isReader(claim), Left: -1, Longest: -1, directory: directory, kv: claim}
	left, granted, ok, err := p.store.Left(ctx, claim.Lease)
	if err != nil || !ok {
		return nil, err
	}
	if claim.Lease != 0 {
		h.Left, h.Longest = left+time.Second, granted+time.Second // etcd rounds down
	}
	if h.Record != "" {
		h.Grant = strconv.FormatInt(claim.CreateRevision, 10)
		bases, err := readBases(ctx, p.store.Get, p.fences.key, []*mvccpb.KeyValue{claim})
		if err != nil {
			return nil, err
		}
		h.Fence = fenceAt(bases, claim.CreateRevision)
	}
	return h, nil
}

// Mark revokes the lock of a claim: it writes the record of who did so, unless the claim has a mark. It returns the mark
// that stands; marked is false if the claim is gone.
//
// A mark is a key of its own, for one claim. It has a lease, and is read in the transaction that proves a renewal. One
// renewal may have been sent before the mark was made, so the mark outlives two of the claim's leases.
func (p *Protocol) Mark(ctx context.Context, h *Holder, record string, keep time.Duration,
) (stands string, marked bool, err error) {
	claim := string(h.kv.Key)
	key := p.layout.mark(h.directory, h.kv.CreateRevision)
	l, err := p.store.Grant(ctx, store.LeaseSeconds(max(keep, 2*h.Longest)))
	if err != nil {
		return "", false, err
	}
	answer, err := p.store.Commit(ctx,
		[]clientv3.Cmp{
			clientv3.Compare(clientv3.CreateRevision(claim), "=", h.kv.CreateRevision),
			clientv3.Compare(clientv3.CreateRevision(key), "=", 0),
		},
		[]clientv3.Op{clientv3.OpPut(key, record, clientv3.WithLease(l.ID))},
		[]clientv3.Op{clientv3.OpGet(key), clientv3.OpGet(claim)})
	if err != nil {
		return "", false, err
	}
	if answer.Succeeded {
		return record, true, nil
	}
	if !answer.Again { // no earlier try has put a key under it
		p.store.Reuse(l)
	}
	marks, claims := answer.Keys(0), answer.Keys(1)
	if len(marks) == 0 || len(claims) == 0 || claims[0].CreateRevision != h.kv.CreateRevision {
		return "", false, nil
	}
	return string(marks[0].Value), true, nil
}
