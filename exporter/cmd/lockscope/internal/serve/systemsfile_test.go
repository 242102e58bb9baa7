package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// served is a process of serve.
type served struct {
	*cmdtest.Started
	t *testing.T
}

// serveProcess starts one that sweeps again and again.
func serveProcess(t *testing.T, args ...string) *served {
	t.Helper()
	return &served{cmdtest.Start(t, often(append([]string{"serve", "--web.listen-address", "127.0.0.1:0"},
		args...)...)...), t}
}

func (s *served) url() (url string) {
	s.t.Helper()
	cmdtest.Eventually(s.t, "it serves", func() bool {
		url = cmdtest.URLLogged.FindString(s.Log())
		return url != ""
	})
	return url
}

// awaitLog waits for a text in its log.
func (s *served) awaitLog(text string) {
	s.t.Helper()
	cmdtest.Eventually(s.t, text+" is logged", func() bool { return strings.Contains(s.Log(), text) })
}

// replace writes a file as an editor does.
func replace(t *testing.T, path, text string) {
	t.Helper()
	cmdtest.Must(t, os.WriteFile(path+".new", []byte(text), 0o600))
	cmdtest.Must(t, os.Rename(path+".new", path))
}

// TestServeSystemsOfAFile: two databases of one server, a cluster and Redis, each a group. SIGHUP takes up a changed
// file and keeps what was found; a bad file changes nothing.
func TestServeSystemsOfAFile(t *testing.T) {
	t.Parallel()
	pg := cmdtest.Postgres(t)
	leak := cmdtest.Executing(t, cmdtest.Database(t, pg))
	leak("CREATE DATABASE other")
	leak("INSERT INTO lockscope.lock (key, token, holder, counter, expires) " +
		"VALUES ('lock:pg', 's3cr3t', '', 1, 'infinity')")
	c, client := cmdtest.Etcd(t, 1)
	for _, key := range []string{"lock:etcd", "/app/leak"} {
		_, err := client.Put(t.Context(), key, "")
		cmdtest.Must(t, err)
	}
	redis := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, redis), "lock:redis", "v", 0)
	url := strings.Replace(pg.URL("service"), "/postgres?", "/%s?", 1)
	groups := fmt.Sprintf(`groups:
- {name: shop, postgres: %q}
- {name: other, postgres: %q, password_file: password}
- {name: cache, redis: [%q]}
`, fmt.Sprintf(url, "postgres"), fmt.Sprintf(url, "other"), redis.Addr())
	jobs := fmt.Sprintf("- {name: jobs, etcd: [%q], max_hold: 2h%%s}\n", c.Members[0].Endpoint())
	rest := "allow_empty: true\nthrottle: {confirm_after: 10ms}\n"
	path := cmdtest.ConfigFile(t, groups+fmt.Sprintf(jobs, "")+rest)
	cmdtest.Must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "password"), []byte("x"), 0o600))
	p := serveProcess(t, "--config", path, "--state", filepath.Join(filepath.Dir(path), "state"))
	server := fmt.Sprint("127.0.0.1:", pg.Port())
	leaked := func(node string, n int) string { return fmt.Sprintf("leaked_locks{lock_node=%q} %d", node, n) }
	awaitMetric(t, p.url(), fmt.Sprintf(`up{group="shop",lock_node=%q} 1`, server+"/postgres"),
		fmt.Sprintf(`up{group="other",lock_node=%q} 1`, server+"/other"),
		fmt.Sprintf(`up{group="jobs",lock_node=%q} 1`, host(client)),
		fmt.Sprintf(`up{group="cache",lock_node=%q} 1`, redis.Addr()),
		leaked(server+"/postgres", 1), leaked(server+"/other", 0), leaked(host(client), 1), leaked(redis.Addr(), 1))

	replace(t, path, groups+fmt.Sprintf(jobs, ", prefixes: [/app/]")+rest)
	cmdtest.Must(t, p.Signal(syscall.SIGHUP))
	awaitMetric(t, p.url(), leaked(host(client), 2), "config_last_reload_successful 1", "memory_failures_total 0")
	replace(t, path, groups+fmt.Sprintf(jobs, ", zookeeper: [h:1]"))
	cmdtest.Must(t, p.Signal(syscall.SIGHUP))
	awaitMetric(t, p.url(), "config_last_reload_successful 0", leaked(host(client), 2), leaked(server+"/postgres", 1))
	p.awaitLog("groups[3]: etcd and zookeeper are all set: make a group of each")
	cmdtest.Must(t, p.Signal(syscall.SIGTERM))
	o := p.Wait()
	o.Want(t, ui.ExitClean)
	o.WantNot(t, "s3cr3t")
	for _, key := range []string{"lock:pg", "lock:etcd", "/app/leak", "lock:redis"} {
		if n := leaksLogged(o.Err, key); n != 1 {
			t.Errorf("the leak %s was logged %d times:\n%s", key, n, o.Err)
		}
	}
}

// leaksLogged counts the lines of a leak.
func leaksLogged(log, key string) (n int) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "leaked lock\t") && strings.Contains(line, key+`"`) {
			n++
		}
	}
	return n
}
