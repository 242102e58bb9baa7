package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestRunOnEverySystem: the lock is that of the services, so a service that holds it keeps the command from running.
func TestRunOnEverySystem(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (flags []string, service *engine.Engine){
		"postgres": func(t *testing.T) ([]string, *engine.Engine) {
			s := cmdtest.Postgres(t)
			return []string{"--postgres", s.URL("service")}, cmdtest.PostgresLocker(t, s, "web-1/42")
		},
		"etcd": func(t *testing.T) ([]string, *engine.Engine) {
			c, client := cmdtest.Etcd(t, 1)
			return []string{"--etcd", strings.Join(c.Endpoints(), ",")}, cmdtest.EtcdLocker(t, client, "web-1/42")
		},
		"zookeeper": func(t *testing.T) ([]string, *engine.Engine) {
			e := cmdtest.ZooKeeper(t, 1)
			return []string{"--zookeeper", strings.Join(e.Addrs(), ",")}, cmdtest.ZooKeeperLocker(t, e, "web-1/42")
		},
		"sentinel": func(t *testing.T) ([]string, *engine.Engine) {
			servers := locktest.Servers(t, 2)
			sentinel, err := redisproc.StartSentinel(t.Context(), servers[0], servers[1])
			cmdtest.Must(t, err)
			t.Cleanup(func() { cmdtest.Must(t, sentinel.Stop()) })
			return []string{"--redis", sentinel.Addr(), "--sentinel-master", redisproc.MasterName},
				cmdtest.LockingProcess(t, "web-1/42", servers[:1])
		},
	} {
		t.Run(name, func(t *testing.T) {
			flags, service := open(t)
			run := func(more ...string) cmdtest.Outcome {
				return command(t, slices.Concat([]string{"run", "nightly", "-n", "--node-timeout", "2s"}, flags, more,
					[]string{"--", "sh", "-c", "echo fence $LOCKSCOPE_FENCE.; exit 7"})...)
			}
			lease, err := service.Acquire(t.Context(), "nightly")
			cmdtest.Must(t, err)
			run().Want(t, 1, `"nightly" is held by web-1/42 since `)
			cmdtest.Must(t, lease.Release(t.Context()))
			o := run()
			o.Want(t, 7, "fence ")
			if strings.Contains(o.Out, "fence 0.") || o.Err != "" {
				t.Errorf("%s%s", o.Out, o.Err)
			}
			run("--slots", "2").Want(t, 7, "fence ")
			run("--shared").Want(t, 7, "fence ")
			run("--exclusive").Want(t, 7, "fence ")
		})
	}
}

// TestRunOnACluster: the Redis Cluster is one node.
func TestRunOnACluster(t *testing.T) {
	c := locktest.Cluster(t, 3)
	seeds := strings.Join(c.Addrs(), ",")
	command(t, "run", "nightly", "-n", "--cluster", "--node-timeout", "2s", "--redis", seeds, "--", "sh", "-c",
		"exit 7").Want(t, 7)
}
