package claims

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/lock/driver/claimlist"
	"github.com/lockscope/lockscope/lock/etcdlock/internal/store"
)

// Holder is a claim that holds a lock. Its grant is the revision that created the claim. A fence is 0 if its base was
// compacted.
type Holder = claimlist.Holder[*mvccpb.KeyValue]

// Holder returns the claim that holds a lock: the oldest of the readers, if they do. It returns nil if there is none.
func (p *Protocol) Holder(ctx context.Context, key string) (*Holder, error) {
	kvs, err := p.store.Get(ctx, p.layout.directory(key), clientv3.WithFirstCreate()...)
	if err != nil || len(kvs) == 0 {
		return nil, err
	}
	return p.describe(ctx, kvs[0])
}

// Readers returns the readers that hold a lock together.
func (p *Protocol) Readers(ctx context.Context, key string) (readers []*Holder, err error) {
	kvs, err := p.store.Get(ctx, p.layout.directory(key), clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil || len(kvs) == 0 || !isReader(kvs[0]) {
		return nil, err
	}
	found := make([]*Holder, claimlist.Holders(kvs, isReader))
	err = claimlist.Parallel(len(found), func(i int) (err error) {
		found[i], err = p.describe(ctx, kvs[i])
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
func (p *Protocol) describe(ctx context.Context, claim *mvccpb.KeyValue) (*Holder, error) {
	h := &Holder{Record: string(claim.Value), Reads: isReader(claim), Left: -1, Longest: -1, Claim: claim}
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
	claim, made := string(h.Claim.Key), h.Claim.CreateRevision
	key := p.layout.mark(claim[:strings.LastIndexByte(claim, '/')+1], made)
	l, err := p.store.Grant(ctx, store.LeaseSeconds(max(keep, 2*h.Longest)))
	if err != nil {
		return "", false, err
	}
	answer, err := p.store.Commit(ctx,
		[]clientv3.Cmp{
			clientv3.Compare(clientv3.CreateRevision(claim), "=", made),
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
	if len(marks) == 0 || len(claims) == 0 || claims[0].CreateRevision != made {
		return "", false, nil
	}
	return string(marks[0].Value), true, nil
}
