package scanner

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/sweep"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// System is a system beside Redis that keeps locks, such as PostgreSQL, etcd or ZooKeeper. Its methods may be called
// concurrently, but each at most once at a time. They return when ctx ends. Their errors name the system and the
// remedy, and have no password.
type System interface {
	// Backend names the system in reports: postgresql, etcd or zookeeper.
	Backend() string
	// Node names its servers in reports and metrics.
	Node() string
	// Look reads all locks once. It returns what it could read together with the error.
	Look(ctx context.Context) (inspect.Look, error)
	// List reads who holds what, and who waits. Waits is never nil.
	List(ctx context.Context) ([]listing.Lock, *listing.Waits, error)
	// Close ends its connections. It waits for a List that is under way.
	Close() error
}

// NewSystem makes a Scanner of a system beside Redis. Sweeps, confirmation, memory, notifications and metrics are the
// same: a finding is confirmed when two looks show it with the same identity. Limits and prefixes are the System's own,
// so options about keys, values and nodes of Redis have no effect. An exclusion applies. The Scanner repairs nothing.
//
// A system that failed is in the report with its error as the System returned it. Findings of earlier sweeps stay then,
// as they do where a [inspect.Look] hides them. Close closes the System.
func NewSystem(system System, opts ...Option) (*Scanner, error) {
	cfg, err := newConfig(1, opts)
	if err != nil {
		return nil, err
	}
	s := newScanner(cfg, nil)
	s.system, s.memory.others = system, []string{system.Node()}
	return s, nil
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
	locks, waits, err := s.system.List(within)
	node := listing.Node{Node: s.system.Node(), Locks: int64(len(locks)), Truncated: err != nil}
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
	return listing.Merge(o, result, listing.Listing{Started: result.Started}), err
}
