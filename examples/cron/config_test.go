package cron_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
)

// TestConfig has the program take lockscope.yaml, and sweep by it: with a password beside it
// and the servers of the example exchanged for real ones.
func TestConfig(t *testing.T) {
	servers := locktest.Servers(t, 4)
	for _, s := range servers {
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		must(t, c.Do(t.Context(), "ACL", "SETUSER", "lockscope-scan", "on", ">example", "~*", "+@all").Err())
		must(t, c.Close())
	}
	text := read(t, "lockscope.yaml")
	for from, to := range map[string]string{
		"redis-0:6379, redis-1:6379, redis-2:6379": fmt.Sprintf("%q, %q, %q", servers[0].Addr(), servers[1].Addr(),
			servers[2].Addr()),
		"rediss://batch-redis:6379/2": "redis://" + servers[3].Addr(),
	} {
		if !strings.Contains(text, from) {
			t.Fatalf("lockscope.yaml has no %s", from)
		}
		text = strings.Replace(text, from, to, 1)
	}
	text = strings.Replace(text, "    - urls: [\"http://alertmanager-0:9093\", \"http://alertmanager-1:9093\"]",
		"    - urls: [\"http://127.0.0.1:1\"]", 1)
	dir := t.TempDir()
	path := filepath.Join(dir, "lockscope.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "redis-password"), []byte("example\n"), 0o600))
	if o := run(t, nil, built, "config", "check", "--connect", path); o.status != 0 ||
		!strings.Contains(o.out, "ok: 2 groups, 4 servers") {
		t.Errorf("exit %d: %s%s", o.status, o.out, o.err)
	}
	o := run(t, nil, built, "scan", "--config", path, "--confirm-after", "10ms")
	if o.status != 3 && o.status != 0 || !strings.Contains(o.out, "no key matches") ||
		!strings.Contains(o.out, "OPS-1234") {
		t.Errorf("exit %d: %s%s", o.status, o.out, o.err)
	}
	parses(t, []string{"serve", "--config", path})
}
