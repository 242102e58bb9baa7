package serve

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/exporter/live/state"
)

// often sweeps again and again, and confirms at once.
func often(args ...string) []string {
	return append([]string{"--interval", "100ms", "--confirm-after", "10ms", "--waits-every", "100ms"}, args...)
}

// awaitMetric waits for a line of /metrics.
func awaitMetric(t *testing.T, url string, lines ...string) {
	t.Helper()
	var body string
	defer func() {
		if t.Failed() {
			t.Logf("metrics:\n%s", body)
		}
	}()
	for _, line := range lines {
		cmdtest.Eventually(t, line, func() bool {
			_, body = cmdtest.Get(t, url+"/metrics")
			return strings.Contains(body, "\ndistributed_lock_scanner_"+line+"\n")
		})
	}
}

func host(client *clientv3.Client) string {
	return strings.TrimPrefix(client.Endpoints()[0], "http://")
}

// TestServeEtcd: findings, metrics, page, notifications and memory, and a cluster that dies and comes back.
func TestServeEtcd(t *testing.T) {
	t.Parallel()
	c, client := cmdtest.Etcd(t, 1)
	_, err := client.Put(t.Context(), "lock:leak", "")
	cmdtest.Must(t, err)
	cmdtest.Hold(t, cmdtest.EtcdLocker(t, client, "etcd-1"), "order")
	cmdtest.Queue(t, cmdtest.EtcdLocker(t, client, "etcd-2"), t.Context(), "order")
	hook, posted := cmdtest.Webhook(t)
	file := filepath.Join(t.TempDir(), "state")
	url, log := serving(t, often("--etcd", client.Endpoints()[0], "--webhook", hook, "--state", file,
		"--export-leaked-keys", "3")...)
	node := fmt.Sprintf("{lock_node=%q}", host(client))
	awaitMetric(t, url, fmt.Sprintf(`up{group="etcd",lock_node=%q} 1`, host(client)), "leaked_locks"+node+" 1",
		"locks"+node+" 3", `finding_keys{class="no_ttl"} 1`, `incomplete{reason="node_failed"} 0`, "waiting_calls 1",
		fmt.Sprintf(`leaked_lock_info{key="lock:leak",lock_node=%q} 1`, host(client)))
	if d := <-posted; len(d.Findings) != 1 || d.Findings[0].Backend != "etcd" || d.Findings[0].Key != "lock:leak" {
		t.Errorf("posted %+v", d)
	}
	if status, text := cmdtest.Get(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("readyz: %s", text)
	}
	var s state.State
	defer func() {
		if t.Failed() {
			t.Logf("%+v", s)
		}
	}()
	cmdtest.Eventually(t, "the page has the holder, the waiter and the server", func() bool {
		s = stateOf(t, url)
		return len(s.Held) > 0 && s.Held[0].Holder == "etcd-1" && len(s.Waiting) == 1 && s.Waiting[0].Instance == "etcd-2" &&
			s.Waiting[0].Blocker.Holder == "etcd-1" && len(s.Nodes) == 1 && s.Nodes[0].Up && s.Nodes[0].Name == host(client)
	})
	m := c.Members[0]
	cmdtest.Must(t, m.Kill())
	awaitMetric(t, url, fmt.Sprintf(`up{group="etcd",lock_node=%q} 0`, host(client)), "leaked_locks"+node+" 1",
		`incomplete{reason="node_failed"} 1`)
	cmdtest.Eventually(t, "it is not ready", func() bool {
		status, text := cmdtest.Get(t, url+"/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(text, "servers: no server answers") &&
			strings.Contains(text, "this machine can reach it")
	})
	cmdtest.Must(t, m.Start())
	cmdtest.Must(t, c.Await(t.Context()))
	awaitMetric(t, url, fmt.Sprintf(`up{group="etcd",lock_node=%q} 1`, host(client)), "leaked_locks"+node+" 1")
	_, err = client.Delete(t.Context(), "lock:leak")
	cmdtest.Must(t, err)
	awaitMetric(t, url, "leaked_locks"+node+" 0", "memory_failures_total 0")
	for _, text := range []string{"leaked lock", "backend=etcd", "node not swept", "leaked lock resolved"} {
		if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(log.String(), `": "`, "="), `"`, ""), text) {
			t.Errorf("%s is not logged:\n%s", text, log)
		}
	}
	if n := strings.Count(log.String(), "leaked lock\t"); n != 1 {
		t.Errorf("the leak was logged %d times:\n%s", n, log)
	}
}

// TestServeSystemsOfMany: a cluster and an ensemble of three answer while one server of each is down or hangs, and not
// with two.
func TestServeSystemsOfMany(t *testing.T) {
	t.Parallel()
	c, client := cmdtest.Etcd(t, 3)
	e := cmdtest.ZooKeeper(t, 3)
	_, err := client.Put(t.Context(), "lock:leak", "")
	cmdtest.Must(t, err)
	cmdtest.Must(t, c.Members[2].Pause())
	defer func() { cmdtest.Must(t, c.Members[2].Resume()) }()
	cmdtest.Must(t, e.Servers[2].Kill())
	endpoints := strings.ReplaceAll(strings.Join(client.Endpoints(), ","), "http://", "")
	url, _ := serving(t, often("--etcd", endpoints, "--zookeeper", strings.Join(e.Addrs(), ","), "--allow-empty",
		"--deadline", "20s")...)
	etcd := fmt.Sprintf(`up{group="etcd",lock_node=%q} `, endpoints)
	zookeeper := fmt.Sprintf(`up{group="zookeeper",lock_node=%q} `, strings.Join(e.Addrs(), ","))
	awaitMetric(t, url, etcd+"1", zookeeper+"1", fmt.Sprintf("leaked_locks{lock_node=%q} 1", endpoints))
	cmdtest.Must(t, c.Members[1].Pause())
	defer func() { cmdtest.Must(t, c.Members[1].Resume()) }()
	cmdtest.Must(t, e.Servers[1].Kill())
	awaitMetric(t, url, etcd+"0", zookeeper+"0", `incomplete{reason="node_failed"} 2`,
		fmt.Sprintf("leaked_locks{lock_node=%q} 1", endpoints))
}

// TestServePostgres: a server that hangs is down within seconds, and no finding of it is over.
func TestServePostgres(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	db := cmdtest.Database(t, s)
	cmdtest.Executing(t, db)("INSERT INTO lockscope.lock (key, token, holder, counter, expires) " +
		"VALUES ('lock:ever', 's3cr3t', '', 1, 'infinity')")
	cmdtest.Hold(t, cmdtest.PostgresLocker(t, s, "pg-1"), "order")
	url, log := serving(t, often("--postgres", s.URL("postgres"))...)
	address := fmt.Sprint("127.0.0.1:", s.Port())
	up := fmt.Sprintf(`up{group="postgresql",lock_node=%q} `, address)
	leaked := fmt.Sprintf("leaked_locks{lock_node=%q} ", address)
	awaitMetric(t, url, up+"1", leaked+"1")
	cmdtest.Must(t, s.Pause())
	awaitMetric(t, url, up+"0", leaked+"1")
	cmdtest.Must(t, s.Resume())
	awaitMetric(t, url, up+"1", leaked+"1")
	cmdtest.Executing(t, db)("REVOKE ALL ON ALL TABLES IN SCHEMA lockscope FROM service; " +
		"UPDATE lockscope.lock SET token = NULL, expires = NULL WHERE key = 'lock:ever'")
	awaitMetric(t, url, leaked+"0")
	if text := log.String(); strings.Contains(text, "s3cr3t") || !strings.Contains(text, "leaked lock resolved") {
		t.Errorf("log:\n%s", text)
	}
}

// TestServeReloadsSystems: a new password makes a system anew, and what was found stays found.
func TestServeReloadsSystems(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	_, err := client.Put(t.Context(), "lock:leak", "")
	cmdtest.Must(t, err)
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	cmdtest.Must(t, os.WriteFile(password, []byte("one"), 0o600))
	url, log := serving(t, often("--etcd", client.Endpoints()[0], "--etcd-password-file", password, "--state",
		filepath.Join(dir, "state"))...)
	leaked := fmt.Sprintf("leaked_locks{lock_node=%q} 1", host(client))
	awaitMetric(t, url, leaked)
	cmdtest.Must(t, os.WriteFile(password, []byte("another"), 0o600))
	cmdtest.Eventually(t, "the system is made anew", func() bool {
		return strings.Contains(log.String(), "configuration reloaded")
	})
	awaitMetric(t, url, leaked, "config_last_reload_successful 1", "memory_failures_total 0")
	if n := strings.Count(log.String(), "leaked lock\t"); n != 1 {
		t.Errorf("the leak was logged %d times:\n%s", n, log)
	}
}

// TestServeSystemsRefuse what would leave them out without a word.
func TestServeSystemsRefuse(t *testing.T) {
	for args, why := range map[string]string{
		"--etcd 127.0.0.1:1 --state redis":   "name a file",
		"--etcd 127.0.0.1:1 --pattern a*":    "use --prefix",
		"--etcd http://u:p@h:1":              "its text is withheld",
		"--zookeeper h:1 --zookeeper-root x": "is not a path",
	} {
		run.Command(t, append([]string{"serve"}, strings.Fields(args)...)...).Want(t, ui.ExitError, why)
	}
}
