package synclock

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
)

// Mutex is a lock that one goroutine of all processes has. [New] makes one. Its methods are safe for concurrent use.
// As with sync.Mutex, any goroutine may unlock it.
type Mutex struct {
	ctx      context.Context // of Lock
	locker   lock.Locker
	resource string
	opts     []lock.AcquireOption
	inside   chan struct{} // full while a goroutine of this process has the Mutex, or asks the Locker for it

	mu    sync.Mutex
	lease lock.Lease // nil while nobody has the Mutex
	err   error
	ended bool // by err: no Lock returns any more
}

// New returns a Mutex on that resource. When ctx ends, Lock waits no longer; a lock that is held is kept until Unlock.
//
// opts are those of [lock.Locker].Acquire. Lock ignores lock.NoWait, lock.MaxWait and lock.MaxAttempts. lock.MaxHold
// bounds how long others wait for a goroutine that hangs.
//
// New sends nothing. It fails with lock.ErrInvalidResource.
func New(ctx context.Context, locker lock.Locker, resource string, opts ...lock.AcquireOption) (*Mutex, error) {
	if err := lock.ValidateResource(resource); err != nil {
		return nil, err
	}
	return &Mutex{ctx: ctx, locker: locker, resource: resource, opts: opts, inside: make(chan struct{}, 1)}, nil
}

// pause is how long Lock waits after an error for which Acquire does not wait, such as that of nodes in quarantine.
const pause = time.Second

// Lock returns once the lock is granted, and otherwise never: see the package documentation.
func (m *Mutex) Lock() {
	m.inside <- struct{}{}
	for {
		err := m.endedBy()
		if err == nil {
			err = m.acquire(m.ctx, patient(m.opts))
		}
		if err == nil {
			return
		}
		switch lock.ReasonOf(err) {
		case lock.ReasonInvalid, lock.ReasonClosed, lock.ReasonDeadlock:
			m.giveUp(err)
		}
		select {
		case <-m.ctx.Done():
			m.giveUp(err)
		case <-time.After(pause):
		}
	}
}

// patient are opts without those that end a wait.
func patient(opts []lock.AcquireOption) []lock.AcquireOption {
	opts = slices.DeleteFunc(slices.Clone(opts), func(o lock.AcquireOption) bool {
		return lock.NewAcquireOptions(o).NoWait
	})
	return append(opts, lock.MaxWait(0), lock.MaxAttempts(0))
}

// giveUp ends the goroutine. It leaves the Mutex only after no Lock can return any more.
func (m *Mutex) giveUp(err error) {
	m.mu.Lock()
	m.err, m.ended = err, true
	m.mu.Unlock()
	<-m.inside
	runtime.Goexit()
}

func (m *Mutex) endedBy() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return m.err
	}
	return nil
}

// Unlock releases the lock and waits for the answers of the nodes, also if the context given to New has ended. If the
// lease was lost before, or nobody has the Mutex, Err returns the error.
func (m *Mutex) Unlock() {
	if err := m.Release(); err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.ended {
			m.err = err
		}
	}
}

// Err returns the latest error of Lock or Unlock, or nil.
func (m *Mutex) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Context returns the lease's context, for the goroutine that has the Mutex. It ends when the lease is lost, and at
// Unlock. It does not end with the context given to New. If nobody has the Mutex, it has ended with lock.ErrNotHeld.
func (m *Mutex) Context() context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease != nil {
		return m.lease.Context()
	}
	ctx, cancel := context.WithCancelCause(m.ctx)
	cancel(m.notHeld())
	return ctx
}

func (m *Mutex) notHeld() error { return fmt.Errorf("synclock: %q: %w", m.resource, lock.ErrNotHeld) }

// Acquire is Lock for code that can take an error. It fails as [lock.Locker].Acquire does, with all options that New
// got, and once Lock has given up, with the error of that. ctx bounds the wait, not the lease. Call Release after it.
func (m *Mutex) Acquire(ctx context.Context) error {
	began := time.Now()
	limit := lock.NewAcquireOptions(m.opts...)
	if err := m.enter(ctx, limit); err != nil {
		return err
	}
	if err := m.endedBy(); err != nil {
		<-m.inside
		return err
	}
	opts := m.opts
	if limit.MaxWait > 0 {
		opts = append(opts[:len(opts):len(opts)], lock.MaxWait(max(limit.MaxWait-time.Since(began), 1)))
	}
	if err := m.acquire(ctx, opts); err != nil {
		<-m.inside
		return err
	}
	return nil
}

// enter waits until no other goroutine of this process has the Mutex.
func (m *Mutex) enter(ctx context.Context, limit lock.AcquireOptions) error {
	select {
	case m.inside <- struct{}{}:
		return nil
	default:
	}
	var spent <-chan time.Time
	if limit.NoWait {
		return &lock.HeldError{Resource: m.resource}
	} else if limit.MaxWait > 0 {
		spent = time.After(limit.MaxWait)
	}
	began := time.Now()
	select {
	case m.inside <- struct{}{}:
		return nil
	case <-ctx.Done():
		ended := ctx.Err()
		if cause := context.Cause(ctx); !errors.Is(ended, cause) {
			ended = fmt.Errorf("%w: %w", cause, ended)
		}
		return &lock.WaitError{Resource: m.resource, Waited: time.Since(began), Err: ended}
	case <-spent:
		return &lock.WaitError{Resource: m.resource, Waited: limit.MaxWait, Err: lock.ErrMaxWait}
	}
}

// acquire is called inside.
func (m *Mutex) acquire(ctx context.Context, opts []lock.AcquireOption) error {
	lease, err := lock.AcquireDetached(ctx, m.locker, m.resource, opts...)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lease = lease
	return nil
}

// Release is Unlock for code that can take an error. It fails if the work may not have been alone: with lock.ErrLost,
// lock.ErrMaxHold or lock.ErrClosed if the lease ended before, and with lock.ErrNotHeld if the nodes held it no longer,
// or nobody has the Mutex. It is no error if too few nodes answer the release: the lock expires on the others.
func (m *Mutex) Release() error {
	m.mu.Lock()
	lease := m.lease
	m.lease = nil
	m.mu.Unlock()
	if lease == nil {
		return m.notHeld()
	}
	defer func() { <-m.inside }()
	lost := context.Cause(lease.Context())
	if err := lease.Release(context.WithoutCancel(m.ctx)); lost == nil && errors.Is(err, lock.ErrNotHeld) {
		return err
	}
	return lost
}
