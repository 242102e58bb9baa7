package etcdproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ErrNotInstalled means that etcd was not found.
var ErrNotInstalled = errors.New("etcd is not installed (Debian: apt-get install etcd-server)")

// binary finds etcd: where LOCKSCOPE_ETCD says, or on the path.
func binary() (string, error) {
	name := os.Getenv("LOCKSCOPE_ETCD")
	if name == "" {
		name = "etcd"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	return path, nil
}

// Available returns nil if members can be started on this machine.
func Available() error {
	_, err := binary()
	return err
}
