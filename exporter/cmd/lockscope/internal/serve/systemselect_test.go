package serve

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner/report"
)

// ofSystem counts the posted documents with a finding, by system.
func ofSystem(posted <-chan report.Document) map[string]int {
	of := make(map[string]int)
	for {
		select {
		case d := <-posted:
			for _, f := range d.Findings {
				of[f.Backend]++
			}
		default:
			return of
		}
	}
}

// TestServeSystemsElect: of two processes one reads each system and notifies. When it ends, the other one goes on where
// it was, by the file of --state that both have.
func TestServeSystemsElect(t *testing.T) {
	t.Parallel()
	pg := cmdtest.Postgres(t)
	cmdtest.Executing(t, cmdtest.Database(t, pg))("INSERT INTO lockscope.lock (key, token, holder, counter, " +
		"expires) VALUES ('lock:pg', 's3cr3t', '', 1, 'infinity')")
	c, client := cmdtest.Etcd(t, 1)
	_, err := client.Put(t.Context(), "lock:etcd", "")
	cmdtest.Must(t, err)
	e := cmdtest.ZooKeeper(t, 1)
	conn := cmdtest.ZooKeeperConn(t, e)
	for _, path := range []string{"/locks", "/locks/report", "/locks/report/lock-0000000001"} {
		cmdtest.Znode(t, conn, path, 0)
	}
	hook, posted := cmdtest.Webhook(t)
	args := []string{"--elect", "--node-timeout", "2s", "--postgres", pg.URL("service"), "--etcd",
		c.Members[0].Endpoint(), "--zookeeper", strings.Join(e.Addrs(), ","), "--webhook", hook,
		"--state", filepath.Join(t.TempDir(), "state")}
	nodes := []string{fmt.Sprint("127.0.0.1:", pg.Port()), host(client), e.Addrs()[0]}
	first := serveProcess(t, args...)
	sweeps := func(p *served) {
		t.Helper()
		for _, node := range nodes {
			awaitMetric(t, p.url(), fmt.Sprintf("leaked_locks{lock_node=%q} 1", node))
		}
	}
	sweeps(first)
	second := serveProcess(t, args...)
	awaitMetric(t, second.url(), "standby 1")
	cmdtest.Must(t, first.Signal(syscall.SIGTERM))
	first.Wait().Want(t, ui.ExitClean)
	sweeps(second)
	awaitMetric(t, second.url(), "standby 0", "unelected 0", "memory_failures_total 0",
		`finding_keys{class="held_too_long"} 0`)
	cmdtest.Must(t, second.Signal(syscall.SIGTERM))
	second.Wait().Want(t, ui.ExitClean)
	if of := ofSystem(posted); len(of) != 3 || of["postgresql"] == 0 {
		t.Errorf("posted %v", of)
	}
	if n := strings.Count(second.Log(), "leaked lock\t"); n != 0 {
		t.Errorf("what the first process had reported was logged %d times:\n%s", n, second.Log())
	}
}
