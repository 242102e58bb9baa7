package serve

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
)

// TestServeSystemsEndWhileTheyHang: systems that stop answering are down, and stay known; SIGTERM waits for none of
// them, whether it reads them by itself or after an election.
func TestServeSystemsEndWhileTheyHang(t *testing.T) {
	t.Parallel()
	pg := cmdtest.Postgres(t)
	c, client := cmdtest.Etcd(t, 1)
	_, err := client.Put(t.Context(), "lock:leak", "")
	cmdtest.Must(t, err)
	e := cmdtest.ZooKeeper(t, 1)
	args := []string{"--postgres", pg.URL("service"), "--etcd", c.Members[0].Endpoint(), "--zookeeper", e.Addrs()[0],
		"--allow-empty"}
	alone, elected := serveProcess(t, args...), serveProcess(t, append(args, "--elect")...)
	up := []string{
		fmt.Sprintf(`up{group="postgresql",lock_node="127.0.0.1:%d"} `, pg.Port()),
		fmt.Sprintf(`up{group="etcd",lock_node=%q} `, host(client)),
		fmt.Sprintf(`up{group="zookeeper",lock_node=%q} `, e.Addrs()[0]),
	}
	for _, p := range []*served{alone, elected} {
		awaitMetric(t, p.url(), up[0]+"1", up[1]+"1", up[2]+"1")
	}
	for _, s := range []interface{ Pause() error }{pg, c.Members[0], e.Servers[0]} {
		cmdtest.Must(t, s.Pause())
	}
	defer func() {
		for _, s := range []interface{ Resume() error }{pg, c.Members[0], e.Servers[0]} {
			cmdtest.Must(t, s.Resume())
		}
	}()
	awaitMetric(t, alone.url(), up[0]+"0", up[1]+"0", up[2]+"0", `incomplete{reason="node_failed"} 3`,
		fmt.Sprintf("leaked_locks{lock_node=%q} 1", host(client)))
	for _, p := range []*served{alone, elected} {
		began := time.Now()
		cmdtest.Must(t, p.Signal(syscall.SIGTERM))
		p.Wait().Want(t, ui.ExitClean)
		if took := time.Since(began); took > 10*time.Second { // the loss of a connection is known after 15 s at the latest
			t.Errorf("%v after SIGTERM it was gone:\n%s", took, p.Log())
		}
	}
	for _, text := range []string{"postgresql 127.0.0.1", "etcd 127.0.0.1", "zookeeper 127.0.0.1"} {
		if !strings.Contains(alone.Log(), text) {
			t.Errorf("%s is not in the log:\n%s", text, alone.Log())
		}
	}
}

// TestServeOneHangsMidway: a system that hangs in the middle of a look keeps no other from being read, and it is down
// before the deadline of the sweep.
func TestServeOneHangsMidway(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 1)
	conn := cmdtest.ZooKeeperConn(t, e)
	cmdtest.Znode(t, conn, "/locks", 0)
	for i := range 100 {
		cmdtest.Znode(t, conn, fmt.Sprintf("/locks/%d", i), 0)
	}
	proxy := cmdtest.Silent(t, e.Addrs()[0])
	_, client := cmdtest.Etcd(t, 1)
	_, err := client.Put(t.Context(), "lock:leak", "")
	cmdtest.Must(t, err)
	p := serveProcess(t, "--zookeeper", proxy.Addr(), "--etcd", client.Endpoints()[0], "--allow-empty",
		"--waits-every", "0")
	cmdtest.Midway(t, proxy, 8)
	awaitMetric(t, p.url(), fmt.Sprintf("leaked_locks{lock_node=%q} 1", host(client)),
		fmt.Sprintf(`up{group="zookeeper",lock_node=%q} 0`, proxy.Addr()))
	proxy.Flow()
	awaitMetric(t, p.url(), fmt.Sprintf(`up{group="zookeeper",lock_node=%q} 1`, proxy.Addr()))
	cmdtest.Must(t, p.Signal(syscall.SIGTERM))
	p.Wait().Want(t, ui.ExitClean)
}

// TestServeZooKeeperHangs: of three servers one may hang, and not two.
func TestServeZooKeeperHangs(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 3)
	leader, err := e.Leader()
	cmdtest.Must(t, err)
	followers := slices.DeleteFunc(slices.Clone(e.Servers), func(s *zkproc.Server) bool { return s == leader })
	pause := func(s *zkproc.Server) {
		cmdtest.Must(t, s.Pause())
		t.Cleanup(func() { cmdtest.Must(t, s.Resume()) })
	}
	pause(followers[0])
	p := serveProcess(t, "--zookeeper", strings.Join(e.Addrs(), ","), "--allow-empty")
	up := fmt.Sprintf(`up{group="zookeeper",lock_node=%q} `, strings.Join(e.Addrs(), ","))
	awaitMetric(t, p.url(), up+"1")
	pause(followers[1])
	awaitMetric(t, p.url(), up+"0")
	cmdtest.Must(t, p.Signal(syscall.SIGTERM))
	p.Wait().Want(t, ui.ExitClean)
}

// TestTwoServesOfSystems with one file for their memory: each says so, and both go on.
func TestTwoServesOfSystems(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	_, err := client.Put(t.Context(), "lock:leak", "")
	cmdtest.Must(t, err)
	args := []string{"--etcd", client.Endpoints()[0], "--state", filepath.Join(t.TempDir(), "state")}
	first, second := serveProcess(t, args...), serveProcess(t, args...)
	leaks := 1
	for _, p := range []*served{first, second} {
		cmdtest.Eventually(t, "it says so", func() bool {
			_, err := client.Put(t.Context(), fmt.Sprintf("lock:%d", leaks), "") // each sweep has something to save
			cmdtest.Must(t, err)
			leaks++
			return strings.Contains(p.Log(), "another process saves to the same store")
		})
	}
	for _, p := range []*served{first, second} {
		awaitMetric(t, p.url(), fmt.Sprintf("leaked_locks{lock_node=%q} %d", host(client), leaks))
		cmdtest.Must(t, p.Signal(syscall.SIGTERM))
		p.Wait().Want(t, ui.ExitClean)
	}
}
