package redisproc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

const (
	loopback = "127.0.0.1"

	// busOffset is where Redis Cluster puts a node's bus port.
	busOffset = 10000

	// portAttempts is how many free ports Start tries when each is taken between choosing and binding it.
	portAttempts = 5

	logName = "redis-server" // and ".log"
)

// Server is one redis-server and the directory it works in. The process may come and go (Kill, Restart); address and
// directory stay until Stop.
//
// All methods may be called concurrently. Those that act on the process wait for one another; the others never block.
type Server struct {
	bin      string
	dir      string
	port     int
	reserved *process.Ports // nil if the port was given
	args     []string
	env      []string // beside this program's

	current atomic.Pointer[process.Process] // the latest run, perhaps over

	mu      sync.Mutex // held while acting on the process
	stopped bool
}

// Start starts a server and returns when it answers PING. It gives up when ctx ends, at the latest after 30 seconds,
// and leaves neither process nor directory behind then; ctx has no influence on the server afterwards. If the server
// exits instead of answering, the error shows the end of its log.
func Start(ctx context.Context, opts ...Option) (*Server, error) {
	bin, err := binary()
	if err != nil {
		return nil, err
	}
	cfg := newConfig(opts)
	for attempt := 1; ; attempt++ {
		s, err := start(ctx, bin, cfg)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, errPortTaken) || cfg.port != 0 || attempt == portAttempts {
			return nil, fmt.Errorf("redisproc: %s did not start: %w", bin, err)
		}
	}
}

func start(ctx context.Context, bin string, cfg config) (_ *Server, err error) {
	s := &Server{bin: bin, port: cfg.port, env: cfg.env}
	if s.port == 0 {
		if s.reserved, err = process.ReservePorts(1, busOffset); err != nil {
			return nil, err
		}
		s.port = s.reserved.Numbers[0]
	}
	if s.dir, err = os.MkdirTemp("", "redisproc-"); err != nil {
		return nil, errors.Join(err, s.reserved.Release())
	}
	if s.args, err = cfg.prepare(s.dir, s.port); err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir), s.reserved.Release())
	}
	return s, nil
}

// run starts the process and waits until it is ready. Except in start, the caller holds mu.
func (s *Server) run(ctx context.Context) error {
	cmd := exec.Command(s.bin, s.args...)
	cmd.Env = append(os.Environ(), s.env...)
	p, err := process.Start(logName, s.dir, cmd)
	if err != nil {
		return err
	}
	if err := awaitReady(ctx, p, s.Addr()); err != nil {
		return errors.Join(err, p.Kill())
	}
	s.current.Store(p)
	return nil
}

// StartN starts n servers in parallel. If one of them does not start, those that did are stopped.
func StartN(ctx context.Context, n int, opts ...Option) ([]*Server, error) {
	if err := Available(); err != nil {
		return nil, err // once, not n times
	}
	servers, errs := make([]*Server, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { servers[i], errs[i] = Start(ctx, opts...) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, errors.Join(err, stopAll(servers))
	}
	return servers, nil
}

// stopAll stops in parallel, so that several that need killing cost one grace period. Nil elements are skipped.
func stopAll(servers []*Server) error {
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		if s != nil {
			wg.Go(func() { errs[i] = s.Stop() })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Addr returns the address to dial, "127.0.0.1:port". It stays the same over Restart.
func (s *Server) Addr() string { return net.JoinHostPort(loopback, strconv.Itoa(s.port)) }

// Port returns the port of Addr.
func (s *Server) Port() int { return s.port }

// Dir returns the server's directory: its data, its configuration if any, and its log redis-server.log.
func (s *Server) Dir() string { return s.dir }

// PID returns the id of the running process, paused or not, and 0 if there is none.
func (s *Server) PID() int {
	if p := s.current.Load(); p.Running() {
		return p.PID()
	}
	return 0
}

// Running reports whether the process exists. It is true of a paused one, and false once a server has exited, also by
// itself.
func (s *Server) Running() bool { return s.current.Load().Running() }
