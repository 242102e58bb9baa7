package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/rwlock"
)

// testReaders: no writer beside another holder, fences in the order of writers, readers with an expiry each, and writers
// that readers do not starve.
func (s Suite) testReaders(t *testing.T) {
	if !s.Capabilities.Readers {
		s.run(t, "are refused", (*subtest).noReaders)
		return
	}
	s.run(t, "readers share", (*subtest).readersShare)
	s.run(t, "never a writer beside others", (*subtest).writersAreAlone)
	s.run(t, "fences", (*subtest).fencesOfReaders)
	s.run(t, "an expiry each", (*subtest).expiryOfReaders)
	s.run(t, "a waiting writer comes first", (*subtest).waitingWriterFirst)
	s.run(t, "a writer that gives up", (*subtest).writerGivesUp)
	s.run(t, "a lock beside readers", (*subtest).lockBesideReaders)
	s.run(t, "upgrade", (*subtest).upgrade)
	s.run(t, "release twice", (*subtest).releaseReaderTwice)
}

func (c *subtest) noReaders() {
	rw := c.rw()
	for name, acquire := range map[string]acquireSide{"RLock": rw.RLock, "Lock": rw.Lock} {
		_, err := acquire(c.context())
		c.wantErr(name, err, errors.ErrUnsupported)
	}
}

// rw is the subtest's read/write lock in another process.
func (c *subtest) rw(opts ...lock.Option) *rwlock.RWLock {
	c.Helper()
	l, err := rwlock.New(c.locker(opts...), c.resource)
	if err != nil {
		c.Fatal(err)
	}
	return l
}

// acquireSide is RLock or Lock.
type acquireSide func(context.Context, ...lock.AcquireOption) (lock.Lease, error)

func (c *subtest) held(acquire acquireSide, opts ...lock.AcquireOption) lock.Lease {
	c.Helper()
	lease, err := acquire(c.context(), append([]lock.AcquireOption{lock.TTL(c.TTL)}, opts...)...)
	if err != nil {
		c.Fatalf("%q: %v", c.resource, err)
	}
	return lease
}

// answered is a call that does not wait, made again while too few nodes answer in time: the machine may be busy.
func (c *subtest) answered(try acquireSide) acquireSide {
	return func(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
		for {
			lease, err := try(ctx, opts...)
			if !errors.Is(err, lock.ErrNoQuorum) || ctx.Err() != nil {
				return lease, err
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// asked is what a call that does not wait comes to.
func (c *subtest) asked(l lock.Locker) (lock.Lease, error) {
	acquire := func(ctx context.Context, opts ...lock.AcquireOption) (lock.Lease, error) {
		return l.Acquire(ctx, c.resource, opts...)
	}
	return c.answered(acquire)(c.context(), lock.NoWait())
}

// waits acquires in the background.
func (c *subtest) waits(ctx context.Context, acquire acquireSide) *waiter {
	w := &waiter{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.lease, w.err = acquire(ctx, lock.TTL(c.TTL))
	}()
	return w
}

func (c *subtest) readersShare() {
	a, b := c.rw(), c.rw()
	readers := []lock.Lease{c.held(a.RLock), c.held(b.RLock), c.held(c.answered(b.TryRLock))}
	_, err := c.answered(a.TryLock)(c.context(), lock.TTL(c.TTL))
	c.wantErr("TryLock beside readers", err, lock.ErrHeld)
	for _, r := range readers {
		if err := r.Extend(c.context()); err != nil {
			c.Errorf("Extend of a reader: %v", err)
		}
		c.release(r)
	}
	w := c.held(c.answered(a.TryLock))
	_, err = c.answered(b.TryRLock)(c.context(), lock.TTL(c.TTL))
	c.wantErr("TryRLock beside a writer", err, lock.ErrHeld)
	if held, ok := errors.AsType[*lock.HeldError](err); !c.NoHolders && (!ok || held.Holder.Kind != lock.KindWrite) {
		c.Errorf("%v; the kind of the holder is missing", err)
	}
	c.release(w)
}

// writersAreAlone lets callers of three processes read and write.
func (c *subtest) writersAreAlone() {
	var (
		callers sync.WaitGroup
		inside  occupants
	)
	for range 3 {
		l := c.rw()
		for caller := range 4 {
			callers.Go(func() {
				for round := range 8 {
					do, writes := l.Read, (caller+round)%4 == 0
					if writes {
						do = l.Write
					}
					err := do(c.context(), func(_ context.Context, lease lock.Lease) error {
						defer inside.leave(writes)
						return inside.enter(writes, lease)
					}, lock.TTL(c.TTL))
					if err != nil {
						c.Error(err)
					}
				}
			})
		}
	}
	callers.Wait()
}

// occupants are those who are inside the lock.
type occupants struct {
	mu               sync.Mutex
	readers, writers int
}

func (o *occupants) enter(writes bool, lease lock.Lease) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if writes {
		o.writers++
	} else {
		o.readers++
	}
	if o.writers > 1 || o.writers == 1 && o.readers > 0 {
		return fmt.Errorf("%d writers and %d readers at once (validity left %v)", o.writers, o.readers, lease.Remaining())
	}
	return nil
}

func (o *occupants) leave(writes bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if writes {
		o.writers--
	} else {
		o.readers--
	}
}

func (c *subtest) fencesOfReaders() {
	a, b := c.rw(), c.rw()
	last := uint64(0)
	for range 3 {
		w := c.held(a.Lock)
		c.wantNewer(w.Fence(), last)
		c.release(w)
		r, s := c.held(a.RLock), c.held(b.RLock)
		if r.Fence() < w.Fence() || s.Fence() < w.Fence() {
			c.Errorf("readers have fences %d and %d after a writer with %d", r.Fence(), s.Fence(), w.Fence())
		}
		if c.ReaderFences && (r.Fence() == w.Fence() || s.Fence() <= r.Fence()) {
			c.Errorf("readers have fences %d and %d after a writer with %d", r.Fence(), s.Fence(), w.Fence())
		}
		last = max(r.Fence(), s.Fence())
		c.release(r)
		c.release(s)
	}
}

func (c *subtest) expiryOfReaders() {
	a, b := c.rw(), c.rw()
	long := c.held(a.RLock, lock.TTL(4*c.TTL), lock.NoRenew())
	short := c.held(b.RLock, lock.NoRenew())
	c.wantEnd(short, lock.ErrLost)
	writer, err := c.answered(b.TryLock)(c.context(), lock.TTL(c.TTL))
	if err == nil && long.Remaining() <= 0 { // the machine stalled for as long as the longer reader had
		c.release(writer)
		_ = long.Release(c.context())
		c.expiryOfReaders()
		return
	}
	c.wantErr("TryLock beside the longer reader", err, lock.ErrHeld)
	c.release(long)
	c.release(c.held(b.Lock))
}

func (c *subtest) waitingWriterFirst() {
	reader, later := c.held(c.rw().RLock), c.rw()
	w := c.waits(c.context(), c.rw().Lock)
	c.stillWaiting(w)
	deadline := time.Now().Add(patience / 2)
	for { // until the writer keeps others out on a quorum of nodes
		newcomer, err := c.answered(later.TryRLock)(c.context(), lock.TTL(c.TTL))
		if err != nil {
			c.wantErr("TryRLock behind a writer", err, lock.ErrHeld)
			break
		}
		c.release(newcomer)
		if time.Now().After(deadline) {
			c.Fatal("a writer that waits keeps no reader out")
		}
		time.Sleep(c.TTL / 50)
	}
	behind := c.waits(c.context(), later.RLock)
	c.stillWaiting(behind)
	c.release(reader)
	c.release(c.served(w))
	c.release(c.served(behind))
}

func (c *subtest) writerGivesUp() {
	reader := c.held(c.rw().RLock)
	ctx, cancel := context.WithCancel(c.context())
	w := c.waits(ctx, c.rw().Lock)
	c.stillWaiting(w)
	cancel()
	<-w.done
	c.wantErr("Lock", w.err, context.Canceled)
	c.within(c.soon(), "a reader after that", func() { c.release(c.held(c.rw().RLock)) })
	c.release(reader)
	c.release(c.held(c.rw().Lock))
}

// lockBesideReaders: they keep each other out, although nobody knows that they share a name.
func (c *subtest) lockBesideReaders() {
	l, rw := c.locker(), c.rw()
	reader := c.held(rw.RLock)
	_, err := c.asked(l)
	c.wantErr("Acquire beside a reader", err, lock.ErrHeld)
	c.release(reader)
	lease := c.acquire(l)
	_, err = c.answered(rw.TryRLock)(c.context(), lock.TTL(c.TTL))
	c.wantErr("TryRLock beside a lock", err, lock.ErrHeld)
	c.release(lease)
}

func (c *subtest) upgrade() {
	l := c.rw()
	reader := c.held(l.RLock)
	_, err := l.Lock(reader.Context(), lock.TTL(c.TTL))
	c.wantErr("Lock in a reader's context", err, rwlock.ErrUpgrade)
	c.release(reader)
	c.release(c.held(l.Lock))
}

func (c *subtest) releaseReaderTwice() {
	a, b := c.rw(), c.rw()
	first, second := c.held(a.RLock), c.held(b.RLock)
	c.release(first)
	c.release(first)
	_, err := c.answered(a.TryLock)(c.context(), lock.TTL(c.TTL))
	c.wantErr("TryLock beside the other reader", err, lock.ErrHeld)
	c.wantEnd(first, lock.ErrReleased)
	c.release(second)
	c.release(c.held(a.Lock))
}
