package locktest

import (
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// revokesReaders ends the readers of a lock for a writer that waits. A reader that comes after it has a lease like any
// other. It skips its test if the nodes have no readers, or cannot revoke them.
func (c *conformance) revokesReaders() {
	ttl := lock.TTL(2 * c.suite.ttl)
	first, second, third := c.sharing(), c.sharing(), c.sharing()
	readers := []lock.Lease{c.reads(first, ttl, lock.NoRenew()), c.reads(second, ttl, lock.NoRenew())}
	if !c.seesReaders(len(readers)) {
		for _, reader := range readers {
			c.release(reader)
		}
		c.Skip("this driver cannot revoke readers")
	}
	next := make(chan lock.Lease, 1)
	go func() {
		writer, err := third.Lock(c.context(), ttl)
		if err != nil {
			c.Errorf("the writer: %v", err)
		}
		next <- writer
	}()
	r, err := c.revoker().RevokeReaders(c.context(), c.resource, readersRequest)
	if err != nil {
		c.Errorf("RevokeReaders(%q): %v", c.resource, err)
	}
	if r.Resource != c.resource || 2*r.Marked <= r.Nodes || r.FreeIn <= 0 || len(r.Readers) != len(readers) {
		c.Errorf("%+v", r)
	}
	for _, one := range r.Readers {
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
	later := c.reads(first, ttl, lock.NoRenew())
	if err := later.Extend(c.context()); err != nil {
		c.Errorf("a later reader is not extended: %v", err)
	}
	c.release(later)
}

// sharing is the resource as a read/write lock of another process.
func (c *conformance) sharing() *rwlock.RWLock {
	c.Helper()
	rw, err := rwlock.New(c.locker(), c.resource)
	if errors.Is(err, errors.ErrUnsupported) {
		c.Skip(err)
	} else if err != nil {
		c.Fatal(err)
	}
	return rw
}

func (c *conformance) reads(rw *rwlock.RWLock, opts ...lock.AcquireOption) lock.Lease {
	c.Helper()
	lease, err := rw.RLock(c.context(), opts...)
	if err != nil {
		c.Fatal(err)
	}
	return lease
}

// seesReaders waits until so many readers are known, and revokes none. It reports whether the driver can.
func (c *conformance) seesReaders(least int) bool {
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
		_, err := r.RevokeReaders(ctx, c.resource, req)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			return false
		case errors.Is(err, seen):
			return true
		case ctx.Err() != nil || !errors.Is(err, lock.ErrNotHeld) && !errors.Is(err, lock.ErrNoQuorum):
			c.Fatalf("RevokeReaders(%q): %v", c.resource, err)
		}
		time.Sleep(time.Millisecond)
	}
}

var readersRequest = lock.RevokeReadersRequest{By: revokeRequest.By, Reason: revokeRequest.Reason}
