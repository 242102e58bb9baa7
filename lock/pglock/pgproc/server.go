package pgproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

const (
	startTimeout = time.Minute
	portAttempts = 5
	logName      = "postgres"
)

// Server is one PostgreSQL server. Its processes may end and start again; address and data stay until Stop.
// Only URL and Connect may be called concurrently.
type Server struct {
	dir     string
	port    int
	ports   *process.Ports
	options []string
	who     *owner
	process *process.Process
}

// Start creates a server and returns when it accepts connections. Options are settings such as "fsync=on";
// fsync is off by default.
func Start(ctx context.Context, options ...string) (*Server, error) {
	who, err := newOwner()
	if err != nil {
		return nil, err
	}
	return create(ctx, who, options, func(s *Server) error { return s.init(ctx) })
}

// create creates a server whose data fill puts into its directory.
func create(ctx context.Context, who *owner, options []string, fill func(*Server) error) (*Server, error) {
	dir, err := os.MkdirTemp("", "pgproc-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, who: who, options: options}
	if err = who.give(dir); err == nil {
		err = fill(s)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for range portAttempts {
		if err = errors.Join(s.ports.Release(), s.reserve()); err != nil {
			break
		}
		if err = s.Restart(ctx); err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, s.Stop())
}

func (s *Server) init(ctx context.Context) error {
	bin, err := binary("initdb")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, bin, "-D", s.data(), "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8",
		"--locale", "C")
	cmd.Dir, cmd.SysProcAttr = s.dir, s.who.command()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Put writes a file that only the server may read into its data directory, and returns the path.
func (s *Server) Put(name string, content []byte) (path string, err error) {
	path = filepath.Join(s.data(), name)
	if err = os.WriteFile(path, content, 0o600); err == nil {
		err = s.who.give(path)
	}
	return path, err
}

// Restart starts the server again on its data, and returns when it accepts connections. It kills a running
// process first.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
		return err
	}
	bin, err := binary("postgres")
	if err != nil {
		return err
	}
	args := []string{"-D", s.data(), "-p", strconv.Itoa(s.port)}
	for _, o := range append([]string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off",
		"max_wal_size=256MB"}, s.options...) {
		args = append(args, "-c", o)
	}
	cmd := exec.Command(bin, args...)
	cmd.SysProcAttr = s.who.server()
	if s.process, err = process.Start(logName, s.dir, cmd); err != nil {
		return err
	}
	return await(ctx, s.process, s.URL("postgres"))
}

// await returns once the process accepts connections, or has ended.
func await(ctx context.Context, p *process.Process, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-p.Done():
			return p.Err()
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Connect connects to the database postgres as a user. Close the connection when you are done with it.
func (s *Server) Connect(ctx context.Context, user string) (*pgx.Conn, error) {
	return pgx.Connect(ctx, s.URL(user))
}

// URL returns the connection string of the database postgres for a user.
func (s *Server) URL(user string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/postgres?sslmode=disable", user, s.port)
}

// Port returns the server's port.
func (s *Server) Port() int { return s.port }

// Pause stops every process of the server with SIGSTOP; Resume lets them run again.
func (s *Server) Pause() error { return s.all(process.Freeze) }

// Resume ends a Pause.
func (s *Server) Resume() error { return s.all(process.Thaw) }

// all calls do for the server's first process, then for its children. A stopped first process starts no more
// children.
func (s *Server) all(do func(pid int) error) error {
	if err := do(s.process.PID()); err != nil {
		return err
	}
	for _, pid := range s.children() {
		if err := do(pid); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	return nil
}

func (s *Server) children() (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	parent := strconv.Itoa(s.process.PID())
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// pid (name) state parent ...
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && len(fields) > 1 &&
			fields[1] == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill ends the server's processes as a crash of the machine does. It does nothing if they do not run.
func (s *Server) Kill() error {
	if s.process == nil || !s.process.Running() {
		return nil
	}
	_ = process.Freeze(s.process.PID()) // it starts no more children
	children := s.children()
	err := s.process.Kill()
	for _, pid := range children {
		p, findErr := os.FindProcess(pid)
		if findErr == nil {
			_ = p.Kill()
			_, _ = p.Wait() // if this process has adopted it; else it fails at once
		}
	}
	s.awaitGone(children)
	return err
}

// awaitGone waits for processes that are not children of this one: their shared memory keeps the next server from
// starting.
func (s *Server) awaitGone(pids []int) {
	for _, pid := range pids {
		for range 500 {
			if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// Stop ends the server and removes its directory.
func (s *Server) Stop() error { return errors.Join(s.Kill(), os.RemoveAll(s.dir), s.ports.Release()) }

func (s *Server) reserve() (err error) {
	if s.ports, err = process.ReservePorts(1); err == nil {
		s.port = s.ports.Numbers[0]
	}
	return err
}
