package synclock

import (
	"context"
	"fmt"
	"sync"

	"github.com/lockscope/lockscope/lock"
)

// Keyed locks and unlocks by key, for code that keeps no handle of what it locked. [NewKeyed] makes one. Its methods are
// safe for concurrent use, and any goroutine may unlock a key.
type Keyed struct {
	locker lock.Locker
	opts   []lock.AcquireOption

	mu    sync.Mutex
	byKey map[string]*keyed
}

// keyed is the Mutex of one key, while calls use it.
type keyed struct {
	*Mutex
	users int  // calls of Lock that wait or have it
	held  bool // one of them has it
}

// NewKeyed returns a Keyed whose keys are resources of locker. opts are those of [lock.Locker].Acquire.
func NewKeyed(locker lock.Locker, opts ...lock.AcquireOption) *Keyed {
	return &Keyed{locker: locker, opts: opts, byKey: make(map[string]*keyed)}
}

// Lock waits for the lock of the key. It fails as [lock.Locker].Acquire does. ctx bounds the wait and not the lease:
// call Unlock, and give NewKeyed a lock.MaxHold against work that hangs.
func (k *Keyed) Lock(ctx context.Context, key string) error {
	m, err := k.enter(ctx, key)
	if err != nil {
		return err
	}
	err = m.Acquire(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if m.held = m.held || err == nil; err != nil {
		k.leave(key, m)
	}
	return err
}

// Unlock releases the lock of the key. It fails with lock.ErrNotHeld if nobody in this process has it, and otherwise as
// [Mutex.Release] does: with lock.ErrLost if the work may not have been alone.
func (k *Keyed) Unlock(key string) error {
	k.mu.Lock()
	m := k.byKey[key]
	if m == nil || !m.held {
		k.mu.Unlock()
		return fmt.Errorf("synclock: %q: %w", key, lock.ErrNotHeld)
	}
	m.held = false
	k.mu.Unlock()
	err := m.Release()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.leave(key, m)
	return err
}

// Context returns the context of the lease on the key, as [Mutex.Context] does: it ends when the lease is lost.
func (k *Keyed) Context(key string) context.Context {
	k.mu.Lock()
	m := k.byKey[key]
	k.mu.Unlock()
	if m != nil {
		return m.Context()
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("synclock: %q: %w", key, lock.ErrNotHeld))
	return ctx
}

func (k *Keyed) enter(ctx context.Context, key string) (*keyed, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := k.byKey[key]
	if m == nil {
		mutex, err := New(context.WithoutCancel(ctx), k.locker, key, k.opts...)
		if err != nil {
			return nil, err
		}
		m = &keyed{Mutex: mutex}
		k.byKey[key] = m
	}
	m.users++
	return m, nil
}

// leave forgets the key with the last call that uses it.
func (k *Keyed) leave(key string, m *keyed) {
	if m.users--; m.users == 0 {
		delete(k.byKey, key)
	}
}
