package zkproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

const (
	startTimeout = 2 * time.Minute
	attempts     = 3
)

// Tick is the unit of time of the servers.
const Tick = 500 * time.Millisecond

// Ensemble is one or more servers that replicate the same data.
type Ensemble struct {
	Servers []*Server
	ports   *process.Ports
}

// Option configures Start.
type Option func(*config)

type config struct{ settings, java []string }

// WithSettings adds lines to the configuration, as in "maxSessionTimeout=4000".
func WithSettings(lines ...string) Option {
	return func(c *config) { c.settings = append(c.settings, lines...) }
}

// WithSync makes servers wait for the disk before they answer; by default they do not.
func WithSync() Option { return func(c *config) { c.java = nil } }

// Start starts an ensemble of n servers and returns when all of them serve.
func Start(ctx context.Context, n int, opts ...Option) (*Ensemble, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c := config{java: []string{"-Dzookeeper.forceSync=no"}}
	for _, opt := range opts {
		opt(&c)
	}
	var err error
	for range attempts {
		e := &Ensemble{}
		if err = e.make(n, c); err == nil {
			err = e.Await(ctx)
		}
		if err == nil {
			return e, nil
		}
		err = errors.Join(err, e.Stop())
	}
	return nil, err
}

func (e *Ensemble) make(n int, c config) (err error) {
	if e.ports, err = process.ReservePorts(3 * n); err != nil {
		return err
	}
	for i := range n {
		dir, err := os.MkdirTemp("", "zkproc-")
		if err != nil {
			return err
		}
		s := &Server{dir: dir, id: i + 1, options: c.java}
		e.Servers = append(e.Servers, s)
		s.ports.client, s.ports.quorum, s.ports.election = e.ports.Numbers[3*i], e.ports.Numbers[3*i+1],
			e.ports.Numbers[3*i+2]
	}
	for _, s := range e.Servers {
		if err := errors.Join(s.configure(e.Servers, c.settings), s.Start()); err != nil {
			return err
		}
	}
	return nil
}

// Await returns when all servers serve.
func (e *Ensemble) Await(ctx context.Context) error {
	for _, s := range e.Servers {
		if err := s.Await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Addrs returns the servers' addresses for clients.
func (e *Ensemble) Addrs() (addrs []string) {
	for _, s := range e.Servers {
		addrs = append(addrs, s.Addr())
	}
	return addrs
}

// Leader returns the server that leads. It fails if none does.
func (e *Ensemble) Leader() (*Server, error) {
	for _, s := range e.Servers {
		if mode, err := s.Mode(); err == nil && (mode == "leader" || mode == "standalone") {
			return s, nil
		}
	}
	return nil, errors.New("zkproc: no server leads")
}

// Report returns for each server whether it runs or how it ended, and the end of its log.
func (e *Ensemble) Report() string {
	var text strings.Builder
	for _, s := range e.Servers {
		state := "never started"
		switch {
		case s.process == nil:
		case s.process.Running():
			state = "runs"
		default:
			state = s.process.Err().Error()
		}
		fmt.Fprintf(&text, "%s: %s\n", s.Addr(), state)
		if s.process != nil {
			fmt.Fprintln(&text, s.process.Tail())
		}
	}
	return text.String()
}

// Stop ends all servers and removes their directories.
func (e *Ensemble) Stop() error {
	var errs []error
	for _, s := range e.Servers {
		errs = append(errs, s.Kill(), os.RemoveAll(s.dir))
	}
	return errors.Join(append(errs, e.ports.Release())...)
}
