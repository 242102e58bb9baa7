package servers

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
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
