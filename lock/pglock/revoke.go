package pglock

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lockscope/lockscope/lock/driver"
)

// Revoke implements driver.BlockingNode. The name of a grant is that of function grant_of. A grant that does not
// hold the lock any more gets no mark: there is one server, and it has no lease left to end.
func (n *node) Revoke(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	if len(req.Readers) > 0 {
		return n.revokeReaders(ctx, req)
	}
	var code int
	var fence, ttl int64
	var reply driver.RevokeReply
	err := n.ask(ctx, n.calls.revoke,
		[]any{req.Key, req.Grant, req.Record, millis(req.Keep), millis(n.memory), n.enforced},
		&code, &reply.Grant, &fence, &ttl, &reply.Holder, &reply.Record)
	if err != nil {
		return driver.RevokeReply{}, err
	}
	reply.Counter, reply.TTL = uint64(fence), time.Duration(ttl)*time.Millisecond
	switch code {
	case codeGranted: // free
		return driver.RevokeReply{}, nil
	case codeHeld:
		reply.Held = true
		return reply, nil
	case codeReaders:
		return n.revokeReaders(ctx, req)
	}
	return driver.RevokeReply{}, n.noRevoke("revoke_lease", code)
}

func (n *node) noRevoke(function string, code int) error {
	if code == codeForgot {
		return fmt.Errorf("%w: it was promoted, or restored from a backup: ask again after %v", driver.ErrQuarantined,
			n.memory)
	}
	return fmt.Errorf("%w: %s returned code %d", driver.ErrBadReply, function, code)
}

// revokeReaders lists the readers of a lock, and marks those of the request. A reader that is named and not there has
// released the lock, or has expired: its token is never granted again.
func (n *node) revokeReaders(ctx context.Context, req driver.RevokeRequest) (driver.RevokeReply, error) {
	var code int
	var named, holders, records []string
	var fences, ttls []int64
	grants := req.Readers
	if grants == nil {
		grants = []string{}
	}
	err := n.ask(ctx, n.calls.revokeReaders,
		[]any{req.Key, grants, req.Record, millis(req.Keep), millis(n.memory), n.enforced},
		&code, &named, &fences, &ttls, &holders, &records)
	if err != nil {
		return driver.RevokeReply{}, err
	}
	if code != 0 || len(fences) != len(named) || len(ttls) != len(named) || len(holders) != len(named) ||
		len(records) != len(named) {
		return driver.RevokeReply{}, n.noRevoke("revoke_readers", code)
	}
	reply := driver.RevokeReply{Held: len(named) > 0, ByReaders: len(named) > 0}
	for i, grant := range named {
		r := driver.RevokeReader{Grant: grant, Held: true, Counter: uint64(fences[i]), Holder: holders[i],
			TTL: time.Duration(ttls[i]) * time.Millisecond, Record: records[i]}
		reply.TTL, reply.Readers = max(reply.TTL, r.TTL), append(reply.Readers, r)
	}
	for _, grant := range req.Readers {
		if !slices.Contains(named, grant) {
			reply.Readers = append(reply.Readers, driver.RevokeReader{Grant: grant, Record: req.Record})
		}
	}
	return reply, nil
}

// revoked is the refusal to extend a lease that is marked.
func (n *node) revoked(ctx context.Context, key, token string) error {
	var record string
	if err := n.ask(ctx, n.calls.markOf, []any{key, token}, &record); err != nil {
		return err
	}
	return &driver.RevokedError{Record: record}
}
