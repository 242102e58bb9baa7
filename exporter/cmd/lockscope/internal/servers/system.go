package servers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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
	config        string // the same for the same servers, users and secrets; a hash

	slowAfter time.Duration // 0: onSlow is not called
	onSlow    func(took time.Duration)

	end   context.CancelFunc
	pings *inspect.Client // which wait for no sweep
}

// newSystem checks what an inspector checks, and connects to nothing.
func newSystem(m, elect maker, config string, r *inspect.Rules) (*System, error) {
	b, err := m()
	if err != nil {
		return nil, err
	}
	defer b.Close()
	life, end := context.WithCancel(context.Background())
	return &System{rules: *r, open: m, elect: elect, name: b.System(), address: b.Address(), config: config, end: end,
		pings: inspect.NewClient(life, func() (inspect.Inspector, error) { return m() })}, nil
}

// FromFile makes the system of a group of a configuration file, and connects to nothing. The caller closes it. Errors
// name fields of the file instead of flags.
func FromFile(c *OtherConfig, r *inspect.Rules) (*System, error) {
	all := makersOfFile(c)
	if len(all) == 0 {
		return nil, errNoSystem
	}
	return newSystem(all[0], makersOfFile(forElection(c))[0], hashOf(c), r)
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

// OnSlow has a function called for each such time that a look takes. Call it before the first look.
func (s *System) OnSlow(after time.Duration, f func(took time.Duration)) {
	s.slowAfter, s.onSlow = after, f
}

// watched is an inspector whose slow looks are reported to onSlow.
type watched struct {
	Other
	of *System
}

// Leaks implements inspect.Inspector. It calls onSlow until it returns.
func (b watched) Leaks(ctx context.Context, r *inspect.Rules) (inspect.Look, error) {
	s := b.of
	if s.slowAfter <= 0 {
		return b.Other.Leaks(ctx, r)
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
	defer func() { close(ended); <-done }()
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
