package etcdproc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
)

// ErrNotInstalled says that etcd was not found.
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

// Available is nil if members can be started here.
func Available() error {
	_, err := binary()
	return err
}

// freePorts are ports that nobody listens on, all different.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
