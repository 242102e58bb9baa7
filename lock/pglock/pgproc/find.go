package pgproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// ErrNotInstalled means that a program of PostgreSQL was not found.
var ErrNotInstalled = errors.New("PostgreSQL is not installed (Debian: apt-get install postgresql)")

// binary finds a program of PostgreSQL: in the directory LOCKSCOPE_POSTGRES_BIN, on the
// path, or where Debian has the latest version.
func binary(name string) (string, error) {
	if dir := os.Getenv("LOCKSCOPE_POSTGRES_BIN"); dir != "" {
		return exec.LookPath(filepath.Join(dir, name))
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		slices.Sort(found)
		return found[len(found)-1], nil
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%w: %s", ErrNotInstalled, name)
}

// Available returns nil if servers can be started on this machine.
func Available() error {
	_, err := binary("postgres")
	return err
}

// credential is who servers run as: PostgreSQL refuses to be root. It is nil for this
// process's own user.
func credential() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w: it refuses to run as root, and there is no user for it: %w", ErrNotInstalled, err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
