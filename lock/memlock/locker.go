package memlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/engine"
)

// Locker is an engine that knows its leases, so that one of them can be lost on order.
// It is safe for concurrent use.
type Locker struct {
	*engine.Engine
	nodes  Nodes
	prefix string

	mu     sync.Mutex
	leases map[lock.Lease]struct{}
}

// New makes a locker on the nodes: one process among others made on the same. It takes
// the options of package lock. Its clock is that of package time, unless WithClock says
// otherwise: it stands still while the machine is suspended. Close must follow.
func New(nodes Nodes, opts ...lock.Option) (*Locker, error) {
	began := time.Now()
	clock := lock.WithClock(func() time.Duration { return time.Since(began) })
	settings, err := engine.NewSettings(len(nodes), append([]lock.Option{clock}, opts...)...)
	if err != nil {
		return nil, err
	}
	var links []driver.Node
	for _, n := range nodes {
		links = append(links, engine.Async(n.connect()))
		settings.Servers = append(settings.Servers, fmt.Sprintf("%s %p", n.name, n)) // nodes of one name may be several
	}
	e, err := settings.NewEngine(links)
	if err != nil {
		for _, l := range links {
			err = errors.Join(err, l.Close())
		}
		return nil, err
	}
	return &Locker{Engine: e, nodes: nodes, prefix: settings.Prefix, leases: make(map[lock.Lease]struct{})}, nil
}

// Acquire implements lock.Locker.
func (l *Locker) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	lease, err := l.Engine.Acquire(ctx, resource, opts...)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leases[lease] = struct{}{}
	context.AfterFunc(lease.Context(), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.leases, lease)
	})
	return lease, nil
}

// Lose takes the resource away from the lease this locker has on it, on all nodes, and
// returns once the lease knows: its context has ended with lock.ErrLost. It fails with
// lock.ErrNotHeld if this locker has none, and with what a renewal fails with if too few
// nodes answer to tell; the lease is then lost when its validity ends.
func (l *Locker) Lose(resource string) error {
	lease := l.leaseOn(resource)
	if lease == nil {
		return fmt.Errorf("memlock: %q: %w", resource, lock.ErrNotHeld)
	}
	for _, n := range l.nodes {
		n.revoke(l.prefix+resource, time.Minute)
	}
	if err := lease.Extend(context.Background()); !errors.Is(err, lock.ErrLost) {
		return fmt.Errorf("memlock: %q is not lost yet: %w", resource, err)
	}
	return nil
}

func (l *Locker) leaseOn(resource string) lock.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	for lease := range l.leases {
		if lease.Resource() == resource && lease.Context().Err() == nil {
			return lease
		}
	}
	return nil
}
