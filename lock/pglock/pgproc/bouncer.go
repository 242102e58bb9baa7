package pgproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/lockscope/lockscope/lock/locktest/process"
)

// The pool modes of pgbouncer: when a client's connection to the server serves the next client.
const (
	SessionPooling     = "session"
	TransactionPooling = "transaction"
	StatementPooling   = "statement"
)

// Bouncer is a pgbouncer in front of a server.
type Bouncer struct {
	dir     string
	port    int
	ports   *process.Ports
	process *process.Process
}

// StartBouncer starts a pgbouncer with a pool mode and a maximum number of connections to the server.
func StartBouncer(ctx context.Context, s *Server, mode string, connections int) (*Bouncer, error) {
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		bin = "/usr/sbin/pgbouncer"
	}
	dir, err := os.MkdirTemp("", "pgbouncer-")
	if err != nil {
		return nil, err
	}
	b := &Bouncer{dir: dir}
	if b.ports, err = process.ReservePorts(1); err == nil {
		b.port = b.ports.Numbers[0]
		err = b.start(ctx, bin, s, mode, connections)
	}
	if err != nil {
		return nil, errors.Join(err, b.Stop())
	}
	return b, nil
}

func (b *Bouncer) start(ctx context.Context, bin string, s *Server, mode string, connections int) error {
	config := strings.Join([]string{
		"[databases]", fmt.Sprintf("* = host=127.0.0.1 port=%d", s.port),
		"[pgbouncer]", "listen_addr = 127.0.0.1", fmt.Sprintf("listen_port = %d", b.port), "unix_socket_dir =",
		"auth_type = any", "pool_mode = " + mode, fmt.Sprintf("default_pool_size = %d", connections), "",
	}, "\n")
	// With auth_type any the user of the server is fixed.
	config = strings.Replace(config, "port="+fmt.Sprint(s.port),
		fmt.Sprintf("port=%d user=service dbname=postgres", s.port), 1)
	file := filepath.Join(b.dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return err
	}
	if err := s.who.give(b.dir, file); err != nil {
		return err
	}
	cmd := exec.Command(bin, file)
	cmd.SysProcAttr = s.who.command()
	var err error
	if b.process, err = process.Start("pgbouncer", b.dir, cmd); err != nil {
		return err
	}
	return await(ctx, b.process, b.URL())
}

// URL returns the connection string for the role service.
func (b *Bouncer) URL() string {
	return fmt.Sprintf("postgres://service@127.0.0.1:%d/postgres?sslmode=disable", b.port)
}

// Stop ends it and removes its directory.
func (b *Bouncer) Stop() error {
	var err error
	if b.process != nil {
		err = b.process.Kill()
	}
	return errors.Join(err, os.RemoveAll(b.dir), b.ports.Release())
}
