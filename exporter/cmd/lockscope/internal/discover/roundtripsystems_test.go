package discover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestDiscoverRoundTripOfSystems scans healthy locks of three systems and Redis with the configuration that discover
// suggests for them, and finds nothing; then a lock that leaked where the configuration says that locks are.
func TestDiscoverRoundTripOfSystems(t *testing.T) {
	t.Parallel()
	pg := cmdtest.Postgres(t)
	cmdtest.Hold(t, cmdtest.PostgresLocker(t, pg, "pg-1"), "order")
	_, client := cmdtest.Etcd(t, 1)
	cmdtest.Hold(t, cmdtest.EtcdLocker(t, client, "etcd-1"), "order")
	s, err := concurrency.NewSession(client)
	cmdtest.Must(t, err)
	defer s.Close()
	cmdtest.Must(t, concurrency.NewMutex(s, "/jobs/nightly").Lock(t.Context()))
	put(t, client, "/service/pg/leader", "pg-1", clientv3.WithLease(s.Lease()))
	put(t, client, "/service/pg/config", "{}")
	put(t, client, "/registry/leases/kube-system/scheduler", "{}")
	e := cmdtest.ZooKeeper(t, 1)
	cmdtest.Hold(t, cmdtest.ZooKeeperLocker(t, e, "zk-1"), "order")
	conn := cmdtest.ZooKeeperConn(t, e)
	cmdtest.Must(t, zk.NewLock(conn, "/go/job", zk.WorldACL(zk.PermAll)).Lock())
	redis := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, redis), "lock:ours", "8Q5xLzCgV2rEJwJ7yYtSIA==", time.Minute)

	path := filepath.Join(t.TempDir(), "lockscope.yaml")
	url := strings.Replace(pg.URL("service"), "service@", "service:s3cret@", 1)
	command(t, "discover", "--postgres", url, "--etcd", strings.Join(client.Endpoints(), ","), "--zookeeper",
		strings.Join(e.Addrs(), ","), "--redis", redis.Addr(), "--out", path).Want(t, ui.ExitClean, "wrote "+path)
	text, err := os.ReadFile(path)
	cmdtest.Must(t, err)
	t.Logf("%s", text)
	if strings.Contains(string(text), "s3cret") {
		t.Error("it has the password")
	}
	command(t, "config", "check", "--connect", path).Want(t, ui.ExitClean, "ok: 4 groups, 4 servers")
	scan := func(want int, says ...string) {
		t.Helper()
		command(t, "scan", "--config", path, "--confirm-after", "10ms").Want(t, want, says...)
	}
	scan(ui.ExitClean, "locks of pglock 1", "keys below /jobs/ 1", "places in queues below /go 1")
	put(t, client, "/jobs/left", "")
	cmdtest.Znode(t, conn, "/go/left", 0)
	cmdtest.Znode(t, conn, "/go/left/lock-", zk.FlagSequence)
	scan(ui.ExitFindings, "/jobs/left", "/go/left/lock-0000000000")
}
