package pgproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
