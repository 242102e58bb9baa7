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

// Locker is an engine whose leases a test can take away; see [Locker.Lose]. It is safe for
// concurrent use.
type Locker struct {
	*engine.Engine
	nodes  Nodes
	prefix string

	mu     sync.Mutex
	leases map[lock.Lease]struct{}
}

// New returns a locker on nodes. Several lockers on the same nodes behave like several processes. It
// accepts the options of package lock. By default its clock is that of package time, which stands
// still while the machine is suspended. Close the locker when you are done with it.
func New(nodes Nodes, opts ...lock.Option) (*Locker, error) {
	began := time.Now()
	clock := engine.WithClock(func() time.Duration { return time.Since(began) })
	settings, err := engine.NewSettings(len(nodes), append([]lock.Option{clock}, opts...)...)
	if err != nil {
		return nil, err
	}
	var links []driver.Node
	for i, n := range nodes {
		links = append(links, engine.Async(n.connect(settings.NodeName(i, n.name))))
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

// Lose removes this locker's lock on resource from all nodes. When it returns nil, the context of the
// lease has ended with lock.ErrLost. The readers of a read/write lock lose it together, also those of other lockers.
//
// Lose fails with lock.ErrNotHeld if this locker has no lease on resource. If too few nodes answer, it
// fails with the error of a renewal, and the lease is lost when its validity ends.
func (l *Locker) Lose(resource string) error {
	lease := l.leaseOn(resource)
	if lease == nil {
		return fmt.Errorf("memlock: %q: %w", resource, lock.ErrNotHeld)
	}
	for _, n := range l.nodes {
		n.lose(l.prefix+resource, time.Minute)
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
