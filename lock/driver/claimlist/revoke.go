package claimlist

import (
	"context"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// Holder is a claim that holds a lock, as any process can read it. C is what the system needs to mark it.
type Holder[C any] struct {
	Record  string // holder record; "" for another library's
	Reads   bool
	Grant   string        // names the claim; "" for another library's, which looks for no mark
	Fence   uint64        // 0 if unknown
	Left    time.Duration // until the claim ends unless renewed; negative: never
	Longest time.Duration // until then once it is marked, since a renewal may be on its way; negative: never
	Claim   C
}

// Peek is the reply about a holder; nil stands for nobody.
func (h *Holder[C]) Peek() driver.PeekReply {
	if h == nil {
		return driver.PeekReply{}
	}
	return driver.PeekReply{Held: true, Counter: h.Fence, TTL: h.Left, Holder: h.Record}
}

// Marker reads and marks the claims that hold locks.
type Marker[C any] interface {
	// Holder returns the first claim to a lock, a reader's if readers hold it; nil if there is none.
	Holder(ctx context.Context, key string) (*Holder[C], error)
	// Readers returns the readers that hold a lock together.
	Readers(ctx context.Context, key string) ([]*Holder[C], error)
	// Mark revokes the lock of a claim. It returns the record of the mark that stands; marked is false if the claim
	// is gone.
	Mark(ctx context.Context, h *Holder[C], record string, keep time.Duration) (stands string, marked bool, err error)
}

// Revoke describes who holds a lock, and marks the grants that the request names. Only a claim that holds the lock gets a
// mark: a claim never comes back, so one that is gone needs none, and one that came since is another grant.
func Revoke[C any](ctx context.Context, all Marker[C], req driver.RevokeRequest) (driver.RevokeReply, error) {
	h, err := all.Holder(ctx, req.Key)
	switch {
	case err != nil:
		return driver.RevokeReply{}, err
	case h != nil && h.Reads || len(req.Readers) > 0:
		return revokeReaders(ctx, all, req)
	case h == nil:
		return driver.RevokeReply{}, nil
	}
	reply := driver.RevokeReply{Held: true, Grant: h.Grant, Counter: h.Fence, TTL: h.Left, Holder: h.Record}
	if req.Grant == "" || reply.Grant != req.Grant {
		return reply, nil
	}
	record, marked, err := all.Mark(ctx, h, req.Record, req.Keep)
	if err != nil || !marked { // released since
		return driver.RevokeReply{}, err
	}
	reply.TTL, reply.Record = h.Longest, record
	return reply, nil
}

// revokeReaders lists the readers that hold a lock, and marks those that the request names. A reader that is named and not
// there has released the lock: it counts as marked. A reader without a grant holds the lock and is not listed.
func revokeReaders[C any](ctx context.Context, all Marker[C], req driver.RevokeRequest) (driver.RevokeReply, error) {
	readers, err := all.Readers(ctx, req.Key)
	if err != nil {
		return driver.RevokeReply{}, err
	}
	found := make([]driver.RevokeReader, len(readers))
	err = Parallel(len(readers), func(i int) (err error) {
		h := readers[i]
		r := driver.RevokeReader{Grant: h.Grant, Held: true, Counter: h.Fence, TTL: h.Left, Holder: h.Record}
		if slices.Contains(req.Readers, h.Grant) {
			r.Record, r.Held, err = all.Mark(ctx, h, req.Record, req.Keep)
			r.TTL = h.Longest
		}
		found[i] = r
		return err
	})
	if err != nil {
		return driver.RevokeReply{}, err
	}
	var reply driver.RevokeReply
	for _, r := range found {
		if !r.Held {
			continue
		}
		if !reply.Held || r.TTL < 0 || reply.TTL >= 0 && r.TTL > reply.TTL {
			reply.TTL = r.TTL
		}
		reply.Held, reply.ByReaders = true, true
		if r.Grant != "" {
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
