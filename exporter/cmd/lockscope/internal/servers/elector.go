package servers

import (
	"context"
	"sync"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
)

// Where the lock is for which processes take turns in reading a system: not among the locks that are read. pglock has
// one table for all, so there it is one of the locks.
const (
	ElectPrefix = "lockscope:elect:"
	electRoot   = "/lockscope-elect" // in ZooKeeper
)

// forElection is a configuration whose Locker takes that lock.
func forElection(c *OtherConfig) *OtherConfig {
	of := *c
	of.Prefixes, of.EtcdPrefix, of.ZooKeeperRoot = []string{ElectPrefix}, ElectPrefix, electRoot
	return &of
}

// Elector takes locks on a system. It connects when it is asked for the first one, so a system that is down does not
// keep a process from starting. It is safe for concurrent use.
type Elector struct {
	make maker
	opts []lock.Option
	life context.Context
	end  context.CancelFunc

	mu sync.Mutex // held while it connects
	b  Other
	e  *engine.Engine
}

var _ lock.Locker = (*Elector)(nil)

// Elector connects to nothing yet. The caller closes it; it may outlive the System.
func (s *System) Elector(opts ...lock.Option) *Elector {
	e := &Elector{make: s.elect, opts: opts}
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// Acquire implements lock.Locker. An error of connecting is the system's.
func (e *Elector) Acquire(ctx context.Context, resource string, opts ...lock.AcquireOption) (lock.Lease, error) {
	l, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return l.Acquire(ctx, resource, opts...)
}

func (e *Elector) open(ctx context.Context) (*engine.Engine, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.life.Err() != nil:
		return nil, lock.ErrClosed
	case e.e != nil:
		return e.e, nil
	}
	b, err := e.make()
	if err != nil {
		return nil, err
	}
	l, err := b.Locker(ctx, e.opts...)
	if err != nil {
		b.Close()
		return nil, err
	}
	e.b, e.e = b, l
	return l, nil
}

// Close releases what is held, as far as the system answers. A further call does nothing.
func (e *Elector) Close() error {
	e.end()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.e == nil {
		return nil
	}
	err := e.e.Close()
	e.b.Close()
	e.e, e.b = nil, nil
	return err
}
