package bench

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// short is a bench of servers that these flags name.
func short(t *testing.T, servers ...string) cmdtest.Outcome {
	t.Helper()
	return lockscope.Command(t, append([]string{"bench", "--for", "1s", "--node-timeout", "2s", "--callers", "1,3"},
		servers...)...)
}

// TestBenchOnACluster: it is one node, so nobody measures one that hangs.
func TestBenchOnACluster(t *testing.T) {
	t.Parallel()
	c := locktest.Cluster(t, 3)
	o := short(t, "--cluster", "--redis", strings.Join(c.Addrs(), ","))
	o.Want(t, app.ExitClean, "hand-off", "no node was made to hang")
	wantClean(t, c.Servers()...)
}

// TestBenchBehindSentinel measures the master.
func TestBenchBehindSentinel(t *testing.T) {
	t.Parallel()
	servers, sentinel := watched(t)
	o := short(t, "--redis", sentinel.Addr(), "--sentinel-master", redisproc.MasterName)
	o.Want(t, app.ExitClean, "hand-off", "no node was made to hang")
	wantClean(t, servers[0])
}

func watched(t *testing.T) ([]*redisproc.Server, *redisproc.Sentinel) {
	t.Helper()
	servers := locktest.Servers(t, 2)
	sentinel, err := redisproc.StartSentinel(t.Context(), servers[0], servers[1])
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, sentinel.Stop()) })
	return servers, sentinel
}

// TestBenchRefusesOtherModes before a key is written, and names the flag.
func TestBenchRefusesOtherModes(t *testing.T) {
	t.Parallel()
	c := locktest.Cluster(t, 3)
	o := short(t, "--redis", strings.Join(c.Addrs(), ","))
	o.Want(t, app.ExitError, c.Addrs()[2]+" is one server of a Redis Cluster", "use --cluster")
	servers, sentinel := watched(t)
	o = short(t, "--redis", sentinel.Addr())
	o.Want(t, app.ExitError, sentinel.Addr()+" is a Sentinel", "--sentinel-master")
	for _, s := range append(c.Servers(), servers...) {
		if keys := cmdtest.Admin(t, s).Keys(t.Context(), "*").Val(); len(keys) != 0 {
			t.Errorf("%v is left on %s", keys, s.Addr())
		}
	}
}
