package pgproc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/jackc/pgx/v5"
)

// Standby creates a server that follows this one, and returns when it accepts connections.
func (s *Server) Standby(ctx context.Context, options ...string) (*Server, error) {
	bin, err := binary("pg_basebackup")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgproc-")
	if err != nil {
		return nil, err
	}
	follower := &Server{dir: dir, who: s.who, options: options}
	if err = s.who.give(dir); err == nil {
		cmd := exec.CommandContext(ctx, bin, "-D", follower.data(), "-R", "--no-sync", "-c", "fast",
			"-h", "127.0.0.1", "-p", strconv.Itoa(s.port), "-U", "postgres")
		cmd.Dir, cmd.SysProcAttr = dir, s.who.command()
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("pg_basebackup: %w\n%s", err, out)
		}
	}
	if err == nil {
		err = follower.reserve()
	}
	if err == nil {
		err = follower.Restart(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, follower.Stop())
	}
	return follower, nil
}

// Promote makes a standby the primary, and returns when it accepts writes.
func (s *Server) Promote(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	var done bool
	err = conn.QueryRow(ctx, "SELECT pg_promote(true, 60)").Scan(&done)
	if err == nil && !done {
		err = errors.New("pgproc: standby was not promoted within a minute")
	}
	return errors.Join(err, conn.Close(ctx))
}
