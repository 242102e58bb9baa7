package servers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/pglock/pginspect"
	"github.com/lockscope/lockscope/lock/waitgraph"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// listTimeout bounds a listing: it is longer than connecting takes.
const listTimeout = 10 * time.Second

// System is a system beside Redis for a scanner.Scanner. Sweeps, listings and pings have connections of their own, so
// that none waits for another. It is safe for concurrent use.
type System struct {
	rules         *inspect.Rules
	elect         maker // of an Elector's system
	name, address string
	config        string // the same for the same servers, users and secrets; a hash
	file          bool   // a configuration file names it, and no flag

	slowAfter time.Duration // 0: onSlow is not called
	onSlow    func(took time.Duration)

	end                 context.CancelFunc
	looks, lists, pings *line

	mu   sync.Mutex
	last inspect.Look
}

var _ scanner.System = (*System)(nil)

// newSystem checks what an inspector checks, and connects to nothing.
func newSystem(m, elect maker, config string, r *inspect.Rules) (*System, error) {
	b, err := m()
	if err != nil {
		return nil, err
	}
	defer b.Close()
	life, end := context.WithCancel(context.Background())
	return &System{rules: r, elect: elect, name: b.System(), address: b.Address(), config: config, end: end,
		looks: newLine(life, m), lists: newLine(life, m), pings: newLine(life, m)}, nil
}

// FromFile makes the system of a group of a configuration file, and connects to nothing. The caller closes it. Errors
// name fields of the file instead of flags. The database is part of the name of a node of PostgreSQL: a file may have
// several of one server.
func FromFile(c *OtherConfig, r *inspect.Rules) (*System, error) {
	var made *System
	electing := makers(forElection(c))
	for i, m := range makers(c) {
		s, err := newSystem(m, electing[i], hashOf(c), r)
		if err != nil {
			return nil, InFile(err)
		}
		made = s
	}
	if made == nil {
		return nil, errNoSystem
	}
	made.file = true
	if c.Postgres != "" {
		if database := pginspect.Database(c.Postgres); database != "" {
			made.address += "/" + database
		}
	}
	return made, nil
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
		s, err := newSystem(m, electing[i], hashOf(&c), &rules)
		if errs = append(errs, err); err == nil {
			all = append(all, s)
		}
	}
	return all, errors.Join(errs...)
}

// hashOf is a hash, for secrets are in a configuration.
func hashOf(c *OtherConfig) string {
	plain := *c
	plain.TLS = nil // its files have stamps of their own
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", fmt.Sprintf("%+v", plain)))
	return hex.EncodeToString(sum[:])
}

// Config is the same for a system that would be made in the same way.
func (s *System) Config() string { return s.name + " " + s.config }

// HoldLimit is how long a holder may have a lock; 0: as long as it wants.
func (s *System) HoldLimit() time.Duration { return s.rules.MaxHold }

// Backend implements scanner.System.
func (s *System) Backend() string { return s.name }

// Node implements scanner.System.
func (s *System) Node() string { return s.address }

// OnSlow has a function called for each such time that a look takes. Call it before the first look.
func (s *System) OnSlow(after time.Duration, f func(took time.Duration)) {
	s.slowAfter, s.onSlow = after, f
}

// watched calls onSlow until the returned function is called.
func (s *System) watched() (stop func()) {
	if s.slowAfter <= 0 {
		return func() {}
	}
	ended, done, began := make(chan struct{}), make(chan struct{}), time.Now()
	go func() {
		defer close(done)
		ticker := time.NewTicker(s.slowAfter)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				s.onSlow(time.Since(began))
			}
		}
	}()
	return func() { close(ended); <-done }
}

// Look implements scanner.System.
func (s *System) Look(ctx context.Context) (look inspect.Look, err error) {
	defer s.watched()()
	err = s.looks.ask(ctx, func(ctx context.Context, b Other) (err error) {
		look, err = b.Leaks(ctx, s.rules)
		return err
	})
	if s.file {
		err = InFile(err)
		lookOfFile(&look)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = look
	return look, err
}

// Leak is a finding as the last look has it; nil if it does not have the finding.
func (s *System) Leak(f *report.Finding) *inspect.Leak {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.last.Leaks {
		l := &s.last.Leaks[i]
		if l.Class == f.Class && l.Place == f.Place && l.Key == f.Key &&
			l.Hold.Instance == f.Hold.Instance {
			return l
		}
	}
	return nil
}

// Ask asks the system.
func (s *System) Ask(ctx context.Context, question func(context.Context, Other) error) error {
	return s.lists.ask(ctx, question)
}

// List implements scanner.System.
func (s *System) List(ctx context.Context) (locks []listing.Lock, w *listing.Waits, err error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	w = listing.NoWaits()
	err = s.lists.ask(ctx, func(ctx context.Context, b Other) (err error) {
		locks, w, err = listing.Inspect(ctx, b, &waitgraph.Watch{})
		return err
	})
	if s.file {
		err = InFile(err)
	}
	if err != nil {
		w.Of, w.Err = 1, err
	}
	return locks, w, err
}

// Ping reports whether it answers.
func (s *System) Ping(ctx context.Context) error {
	err := s.pings.ask(ctx, func(ctx context.Context, b Other) error { _, err := b.Ping(ctx); return err })
	if s.file {
		return InFile(err)
	}
	return err
}

// Close implements scanner.System. It ends what is asked.
func (s *System) Close() error {
	s.end()
	for _, l := range []*line{s.looks, s.lists, s.pings} {
		l.close()
	}
	return nil
}
