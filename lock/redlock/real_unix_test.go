package redlock_test

import (
	"path/filepath"
	"testing"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// TestRealUnixSocket: a server on the same machine needs no port.
func TestRealUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s") // the path of a socket must be short
	locktest.Servers(t, 1, redisproc.WithArgs("--unixsocket", path))
	l, err := redlock.Open([]string{"unix://" + path + "?db=1"}, lock.WithNodeTimeout(nodeTimeout))
	must(t, err)
	defer func() { must(t, l.Close()) }()
	lease := acquire(t, l, "job")
	if lease.Fence() == 0 {
		t.Error("no fence")
	}
	must(t, lease.Release(t.Context()))
}
