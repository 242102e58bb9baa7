package serve

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

var leaked = regexp.MustCompile(`(?m)^distributed_lock_scanner_leaked_locks\{.*\} 1$`)

// TestRealServeWritesNothing: with sweeps, a fleet and all pages, no key of a real Redis is changed.
func TestRealServeWritesNothing(t *testing.T) {
	servers := locktest.Servers(t, 1)
	orders, page := cmdtest.Paged(t, "orders-1", servers)
	_, err := orders.Acquire(t.Context(), "order", lock.TTL(time.Minute), lock.NoRenew())
	cmdtest.Must(t, err)
	admin := cmdtest.Admin(t, servers[0])
	cmdtest.Must(t, admin.Set(t.Context(), "lock:leak", "x", 0).Err())
	changes := func() int64 {
		text, err := admin.Info(t.Context(), "persistence").Result()
		cmdtest.Must(t, err)
		return redisinfo.Parse(text).Number("rdb_changes_since_last_save")
	}
	before := changes()
	url, log := serving(t, "--redis", servers[0].Addr(), "--interval", "50ms", "--confirm-after", "1ms",
		"--waits-every", "100ms", "--pages", "127.0.0.1")
	url = strings.TrimSuffix(url, "/")
	cmdtest.Eventually(t, "the leak is found", func() bool {
		_, body := cmdtest.Get(t, url+"/metrics")
		return leaked.MatchString(body)
	})
	for _, path := range []string{"/", "/healthz", "/readyz", "/debug/locks", "/debug/locks?format=json",
		"/debug/locks/fleet?format=json"} {
		if status, body := cmdtest.Get(t, url+path); status != http.StatusOK {
			t.Errorf("%s: %d %.200s", path, status, body)
		}
		resp, err := http.Post(url+path, "text/plain", strings.NewReader("x"))
		cmdtest.Must(t, err)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %s", path, resp.Status)
		}
	}
	if after := changes(); after != before {
		t.Errorf("%d changes of keys before serve, %d after\n%s\n%s", before, after, page, log)
	}
}
