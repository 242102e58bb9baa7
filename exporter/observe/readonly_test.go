package observe_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/observe"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// TestRealPagesWriteNothing asks a real Redis how many keys were changed before and after every address was read. Only
// /readyz changes any: it takes a lock of its own and gives it back.
func TestRealPagesWriteNothing(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	locks, err := observe.Redis([]string{"redis://" + server.Addr()}, observe.Config{Instance: "orders-1"})
	must(t, err)
	defer func() { must(t, locks.Shutdown(t.Context())) }()
	_, err = locks.Acquire(t.Context(), "order:1001", lock.TTL(time.Minute), lock.NoRenew())
	must(t, err)
	admin := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer admin.Close()
	changes := func() int64 {
		text, err := admin.Info(t.Context(), "persistence").Result()
		must(t, err)
		return redisinfo.Parse(text).Number("rdb_changes_since_last_save")
	}
	before := changes()
	if before == 0 {
		t.Fatal("the lock changed nothing: the count is of no use")
	}
	for _, path := range []string{"/", "/metrics", "/healthz", "/debug/locks", "/debug/locks?format=json",
		"/debug/locks/", "/debug/locks/profile?debug=1", "/debug/locks/history?format=json", "/debug/locks/flame",
		"/debug/locks/trace?resource=order:1001"} {
		if code, body := get(locks, path); code != http.StatusOK && code != http.StatusNotFound {
			t.Errorf("%s: %d %.200s", path, code, body)
		}
	}
	if after := changes(); after != before {
		t.Errorf("%d changes of keys before the pages were read, %d after", before, after)
	}
	if code, body := get(locks, "/readyz"); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
	keys, err := admin.Keys(t.Context(), "lock:*").Result()
	if err != nil || len(keys) != 1 || keys[0] != "lock:order:1001" {
		t.Errorf("after /readyz the locks are %q, %v", keys, err)
	}
}
