package scanner

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner/internal/apply"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// listTimeout bounds the listing of a system beside Redis: it is longer than connecting takes.
const listTimeout = 10 * time.Second

// system is a system beside Redis. Sweeps and listings have connections of their own, so that none waits for another.
type system struct {
	rules        inspect.Rules
	name         string // as reports have it: postgresql, etcd or zookeeper
	address      string
	looks, lists *inspect.Client

	mu   sync.Mutex
	last inspect.Look
}

// NewSystem makes a Scanner of a system beside Redis, such as PostgreSQL, etcd or ZooKeeper. Sweeps, confirmation,
// memory, notifications and metrics are the same: a finding is confirmed when two looks show it with the same identity.
// The rules have limits and prefixes, so options about keys, values and nodes of Redis have no effect. An exclusion
// applies. [Scanner.Repair] repairs nothing there, but a plan does.
//
// NewSystem makes an Inspector for its names, and the Scanner makes others when it needs a connection, at most one each
// for sweeps and for listings.
//
// A system that failed is in the report with its error as the Inspector returned it. Findings of earlier sweeps stay
// then, as they do where an [inspect.Look] hides them.
func NewSystem(open inspect.Open, rules inspect.Rules, opts ...Option) (*Scanner, error) {
	cfg, err := newConfig(1, opts)
	if err != nil {
		return nil, err
	}
	if rules.MaxHold >= time.Millisecond {
		cfg.rules.HoldLimit = rules.MaxHold // by which a leader renews its lock
	}
	in, err := open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s := newScanner(cfg, nil)
	s.system = &system{rules: rules, name: in.System(), address: in.Address(),
		looks: inspect.NewClient(s.life, open), lists: inspect.NewClient(s.life, open)}
	s.memory.others = []string{s.system.address}
	s.goOn()
	return s, nil
}

// look reads all locks once.
func (s *system) look(ctx context.Context) (look inspect.Look, err error) {
	err = s.looks.Ask(ctx, func(ctx context.Context, in inspect.Inspector) (err error) {
		look, err = in.Leaks(ctx, &s.rules)
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = look
	return look, err
}

// held reads the locks that are held, on the connection of sweeps. The deadline of a sweep is minutes, in which nobody
// would learn that a server hangs.
func (s *system) held(ctx context.Context) (all []inspect.HeldLock, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	err = s.looks.Ask(ctx, func(ctx context.Context, in inspect.Inspector) (err error) {
		all, err = in.HeldLocks(ctx)
		return err
	})
	return all, err
}

// step plans the repair of a finding as the last look has it.
func (s *system) step(f *report.Finding) (repair.Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.last.Leaks, func(l inspect.Leak) bool {
		return l.Class == f.Class && l.Place == f.Place && l.Key == f.Key && l.Hold.Instance == f.Hold.Instance
	})
	if at < 0 {
		return repair.Step{}, fmt.Errorf("%w: the second look does not have it: make a new plan", repair.ErrNotRepairable)
	}
	leak := &s.last.Leaks[at]
	if leak.Action == "" {
		return repair.Step{}, fmt.Errorf("%w: %s", repair.ErrNotRepairable, leak.Unsafe)
	}
	step := apply.NewStep(&registry.Entry{Finding: *f, Facts: registry.Facts{Identity: leak.Guard}}, string(leak.Action))
	step.Identity = leak.Guard
	return step, nil
}

// apply carries out a step. A refusal by the Inspector is no failure of its connection.
func (s *system) apply(ctx context.Context, step *repair.Step, dry bool) (done inspect.Outcome, err error) {
	key, refused := base64.StdEncoding.DecodeString(step.KeyBase64)
	if refused == nil {
		err = s.lists.Ask(ctx, func(ctx context.Context, in inspect.Inspector) (err error) {
			if done, err = in.Repair(ctx, string(key), step.Digest, dry); errors.Is(err, inspect.ErrUnsafe) {
				refused, err = err, nil
			}
			return err
		})
	}
	if refused != nil {
		err = fmt.Errorf("%w: %w", repair.ErrNotRepairable, refused)
	}
	return done, err
}

func (s *system) close() {
	s.looks.Close()
	s.lists.Close()
}

// sweeper is one sweep.
type sweeper interface {
	Run(ctx context.Context, drop func(gone func(node string) bool))
	Report() report.Report
	Appeared() []report.Finding
	Errs() []error
}

var _, _ sweeper = (*sweep.Sweep)(nil), (*sweep.Whole)(nil)

// listSystem is [Scanner.List] of a system beside Redis. o is complete.
func (s *Scanner) listSystem(ctx context.Context, o listing.Options) (listing.Listing, error) {
	outer, within, stop := s.reading(ctx)
	defer stop()
	result := listing.Listing{Started: s.cfg.now()}
	locks, waits, err := s.system.list(within)
	node := listing.Node{Node: s.system.address, Locks: int64(len(locks)), Truncated: err != nil}
	if err != nil && within.Err() == nil {
		node.Err = err
	}
	for _, l := range locks {
		if o.Wants(l.Resource) {
			result.Locks = append(result.Locks, l)
		}
	}
	result.Nodes, result.Truncated, result.Took = []listing.Node{node}, err != nil, s.cfg.now().Sub(result.Started)
	result.Reading = result.Took
	if o.Waits {
		waits.Took = result.Took
		result.Waits = waits
	}
	if cause := context.Cause(outer); cause != nil {
		err = errors.Join(err, fmt.Errorf("scanner: the listing was interrupted: %w", cause))
	}
	result.Select(o)
	return result, err
}

func (s *system) list(ctx context.Context) (locks []listing.Lock, w *listing.Waits, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	w = listing.NoWaits()
	err = s.lists.Ask(ctx, func(ctx context.Context, in inspect.Inspector) (err error) {
		locks, w, err = listing.Inspect(ctx, in, &waitgraph.Watch{})
		return err
	})
	if err != nil {
		w.Of, w.Err = 1, err
	}
	return locks, w, err
}
