package run

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/list"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// lockscope has the commands under test.
var lockscope = cmdtest.Of(Command, Elect, list.Command)

func TestMain(m *testing.M) { cmdtest.MainOrLockscope(m, lockscope) }

func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return lockscope.Command(t, args...)
}

// server is a lock by itself.
func server(t *testing.T) *redisproc.Server {
	t.Helper()
	return locktest.Servers(t, 1)[0]
}

// args are a command line of run that is patient with a busy machine.
func args(s []*redisproc.Server, more ...string) []string {
	return append([]string{"run", "nightly", "--redis", cmdtest.Addrs(s...), "--node-timeout", "2s"}, more...)
}

// shell runs a script under the lock of one server.
func shell(s *redisproc.Server, script string, more ...string) []string {
	return append(args([]*redisproc.Server{s}, more...), "--", "sh", "-c", script)
}
