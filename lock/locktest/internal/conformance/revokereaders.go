package conformance

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// revokesReaders ends the readers of a lock for a writer that waits. A reader that comes after it has a lease like any
// other.
func (c *subtest) revokesReaders() {
	ttl := lock.TTL(2 * c.TTL)
	first, second, third := c.rw(), c.rw(), c.rw()
	readers := []lock.Lease{c.held(first.RLock, ttl, lock.NoRenew()), c.held(second.RLock, ttl, lock.NoRenew())}
	c.seesReaders(len(readers))
	next := make(chan lock.Lease, 1)
	go func() {
		writer, err := third.Lock(c.context(), ttl)
		if err != nil {
			c.Errorf("the writer: %v", err)
		}
		next <- writer
	}()
	r, err := c.revoker().Revoke(c.context(), c.resource, readersRequest)
	if err != nil {
		c.Errorf("Revoke(%q): %v", c.resource, err)
	}
	if r.Resource != c.resource || 2*r.Marked <= r.Nodes || r.FreeIn <= 0 || len(r.Holders) != len(readers) {
		c.Errorf("%+v", r)
	}
	for _, one := range r.Holders {
		if one.Again || one.Mark.By != "ops@host" || one.Holder.Instance == "" {
			c.Errorf("%+v", one)
		}
	}
	for _, reader := range readers {
		c.wantRevoked(reader.Extend(c.context()), "ops@host")
		c.wantEnd(reader, lock.ErrLost)
		c.release(reader)
	}
	writer := <-next
	if writer == nil {
		return
	}
	if err := writer.Extend(c.context()); err != nil {
		c.Errorf("the writer is not extended: %v", err)
	}
	c.release(writer)
	later := c.held(first.RLock, ttl, lock.NoRenew())
	if err := later.Extend(c.context()); err != nil {
		c.Errorf("a later reader is not extended: %v", err)
	}
	c.release(later)
}

// revokesReadersOf one instance, twice.
func (c *subtest) revokesReadersOf() {
	ttl, r := lock.TTL(2*c.TTL), c.revoker()
	one := c.held(c.rw(lock.WithInstance("web-1")).RLock, ttl, lock.NoRenew())
	other := c.held(c.rw(lock.WithInstance("web-2")).RLock, ttl, lock.NoRenew())
	c.seesReaders(2)
	req := readersRequest
	req.Instance = "web-1"
	for i, by := range []string{"ops@host", "another"} {
		req.By = by
		got, err := r.Revoke(c.context(), c.resource, req)
		if err != nil || len(got.Holders) != 1 || got.Holders[0].Holder.Instance != "web-1" || got.Holders[0].Again != (i > 0) ||
			got.Holders[0].Mark.By != "ops@host" || c.ReaderFences && got.Holders[0].Fence != one.Fence() {
			c.Errorf("%+v, %v", got, err)
		}
	}
	c.wantRevoked(one.Extend(c.context()), "ops@host")
	if err := other.Extend(c.context()); err != nil {
		c.Errorf("the other reader is not extended: %v", err)
	}
	c.release(one)
	for ctx := c.context(); ; time.Sleep(time.Millisecond) { // the release may be on its way to some nodes
		_, err := r.Revoke(ctx, c.resource, req)
		if errors.Is(err, lock.ErrNotHeld) {
			break
		} else if ctx.Err() != nil {
			c.Fatalf("Revoke of an instance that reads no more: %v", err)
		}
	}
	if err := other.Extend(c.context()); err != nil {
		c.Errorf("the other reader is not extended: %v", err)
	}
	c.release(other)
}

// seesReaders waits until so many readers are known, and revokes none.
func (c *subtest) seesReaders(least int) {
	c.Helper()
	ctx, r, seen := c.context(), c.revoker(), errors.New("seen")
	req := readersRequest
	req.Confirm = func(readers []lock.Sighting) error {
		if len(readers) < least {
			return lock.ErrNotHeld
		}
		return seen
	}
	for {
		_, err := r.Revoke(ctx, c.resource, req)
		switch {
		case errors.Is(err, seen):
			return
		case ctx.Err() != nil || !errors.Is(err, lock.ErrNotHeld) && !errors.Is(err, lock.ErrNoQuorum):
			c.Fatalf("Revoke(%q): %v", c.resource, err)
		}
		time.Sleep(time.Millisecond)
	}
}

var readersRequest = engine.RevokeRequest{By: revokeRequest.By, Reason: revokeRequest.Reason, Readers: true}
