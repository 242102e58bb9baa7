package servers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/scanner"
)

// System is a system beside Redis that a Scanner reads. It is safe for concurrent use.
type System struct {
	rules         inspect.Rules
	open, elect   maker // elect is of an Elector's system
	name, address string
	onSlow        func(took time.Duration) // nil: it is not called

	end   context.CancelFunc
	pings *inspect.Client // which wait for no sweep
}

// newSystem checks what an inspector checks, and connects to nothing.
func newSystem(m, elect maker, r *inspect.Rules) (*System, error) {
	b, err := m()
	if err != nil {
		return nil, err
	}
	defer b.Close()
	life, end := context.WithCancel(context.Background())
	return &System{rules: *r, open: m, elect: elect, name: b.System(), address: b.Address(), end: end,
		pings: inspect.NewClient(life, func() (inspect.Inspector, error) { return m() })}, nil
}

// FromFile makes the system of a group of a configuration file, and connects to nothing. The caller closes it. Errors
// name fields of the file instead of flags.
func FromFile(c *OtherConfig, r *inspect.Rules) (*System, error) {
	all := makersOfFile(c)
	if len(all) == 0 {
		return nil, errNoSystem
	}
	return newSystem(all[0], makersOfFile(forElection(c))[0], r)
}

var errNoSystem = errors.New("no system is named")

// Systems makes those that are named, and connects to none. The caller closes them.
func (f *Flags) Systems(a *ui.App, r *inspect.Rules) (all []*System, err error) {
	c, err := f.configuration(a, nil)
	if err != nil {
		return nil, err
	}
	rules := *r
	rules.Schema = f.Others.set.Changed("schema")
	var errs []error
	electing := makers(forElection(&c))
	for i, m := range makers(&c) {
		s, err := newSystem(m, electing[i], &rules)
		if errs = append(errs, err); err == nil {
			all = append(all, s)
		}
	}
	return all, errors.Join(errs...)
}

// Backend names the system in reports.
func (s *System) Backend() string { return s.name }

// Node names its servers in reports.
func (s *System) Node() string { return s.address }

// Scanner makes a Scanner of the system.
func (s *System) Scanner(opts ...scanner.Option) (*scanner.Scanner, error) {
	return scanner.NewSystem(func() (inspect.Inspector, error) {
		b, err := s.open()
		if err != nil {
			return nil, err
		}
		return watched{b, s}, nil
	}, s.rules, opts...)
}

// OnSlow has a function called for each [ui.ProgressEvery] that a look takes. Call it before the first look.
func (s *System) OnSlow(f func(took time.Duration)) { s.onSlow = f }

// watched is an inspector whose slow looks are reported to onSlow.
type watched struct {
	Other
	of *System
}

// Leaks implements inspect.Inspector. It calls onSlow until it returns.
func (b watched) Leaks(ctx context.Context, r *inspect.Rules) (inspect.Look, error) {
	if s, began := b.of, time.Now(); s.onSlow != nil {
		defer ui.Every(ui.ProgressEvery, func() { s.onSlow(time.Since(began)) })()
	}
	return b.Other.Leaks(ctx, r)
}

// Ping reports whether it answers.
func (s *System) Ping(ctx context.Context) error {
	return s.pings.Ask(ctx, func(ctx context.Context, b inspect.Inspector) error { _, err := b.Ping(ctx); return err })
}

// Close ends what Ping asks. Scanners and Electors are closed apart.
func (s *System) Close() {
	s.end()
	s.pings.Close()
}

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

// Close releases what is held where the system answers. A further call does nothing.
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
