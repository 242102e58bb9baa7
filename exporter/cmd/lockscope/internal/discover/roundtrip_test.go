package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// population writes healthy locks of several libraries at one moment. Some share a pattern, or are below another's
// pattern. All but the last two are gone after their work.
func population(t *testing.T, c *redis.Client) (lasting []string) {
	t.Helper()
	const (
		redsync, id = "8Q5xLzCgV2rEJwJ7yYtSIA==", "8743c9c0-0795-4907-87fd-6c719a6b4586"
		random      = "9f86d081884c3d659a2feaa0c55ad015"
	)
	shedLock := func(ago time.Duration) string {
		return "ADDED:" + time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000Z") + "@batch-7:" + id
	}
	hash := func(key, field string, value any, ttl time.Duration) {
		cmdtest.Must(t, c.HSet(t.Context(), key, field, value).Err())
		if ttl > 0 {
			cmdtest.Must(t, c.PExpire(t.Context(), key, ttl).Err())
		}
	}
	cmdtest.Set(t, c, "lock:stock", redsync, 6*time.Second)
	cmdtest.Set(t, c, "lock:mail", redsync, 7*time.Second)
	cmdtest.Set(t, c, "lock:order", "hTYMdGE4tKPBgV8bdmV0Nw", 9*time.Second)
	hash("lock:invoice", id+":42", 1, 25*time.Second)
	cmdtest.Set(t, c, "lock:nightly", shedLock(8*time.Minute), 2*time.Minute) // of a lease of 10 minutes
	cmdtest.Set(t, c, "lock:deep:a", random, 2*time.Hour)                     // a pattern within another's
	cmdtest.Set(t, c, "lock:deep:b", random[1:]+"0", 5*time.Hour)
	cmdtest.Set(t, c, "app:lock:1", fmt.Sprintf("%s:17|web-3/4711|%d||", cmdtest.SecretToken, time.Now().UnixMilli()),
		8*time.Second)
	cmdtest.Set(t, c, "app:lock:import", "1", 3*time.Hour) // SETNX: nothing else is known about it
	cmdtest.Set(t, c, "bull:mail:1234:lock", id+":7", 25*time.Second)
	cmdtest.Set(t, c, "spring-lock:a", id, 50*time.Second)
	cmdtest.Set(t, c, "jobs:lock:a", random, 8*time.Second)
	cmdtest.Set(t, c, "jobs:lock:b", random[1:]+"0", 8*time.Second)
	cmdtest.Set(t, c, "session:1", "9f86d081884c3d659a2feaa0c55ad016", 20*time.Hour)
	cmdtest.Set(t, c, "redbeat::lock", "6fa459eaee8a11ee8ca40242ac130003", 20*time.Minute)
	hash("uniquejobs:d41d8cd98f00b204e9800998ecf8427e:LOCKED", "b4a577edbccf1d805744efa9", "1763000000.123", 0)
	cmdtest.Set(t, c, "SINGLETONLOCK_d41d8cd98f00b204e9800998ecf8427e", id, 0)
	return []string{"uniquejobs:d41d8cd98f00b204e9800998ecf8427e:LOCKED",
		"SINGLETONLOCK_d41d8cd98f00b204e9800998ecf8427e"}
}

// TestDiscoverSuitsEachLibrary scans a healthy lock of one library after the other with the configuration that was
// suggested for it, once with all keys that were sampled, and once when the program has written more of them.
func TestDiscoverSuitsEachLibrary(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	const (
		id     = "8743c9c0-0795-4907-87fd-6c719a6b4586"
		locked = "web-3_4711_9f86d081884c4d659a2feaa0c55ad015" // DistributedLock.Redis
	)
	for key, one := range map[string]struct {
		value   string
		ttl     time.Duration
		pattern string
		beside  []string // lists of the same program
	}{
		"{hangfire}:lock:recurring-job:a": {id, time.Minute, `prefix: "{hangfire}:lock:recurring-job:"`,
			[]string{"{hangfire}:queue:default", "{hangfire}:schedule", "{hangfire}:recurring-jobs"}},
		"{hangfire}:recurring-jobs:lock": {id, time.Minute, `pattern: "{hangfire}:recurring\\-jobs:lock"`,
			[]string{"{hangfire}:queue:default", "{hangfire}:recurring-jobs"}},
		"{hangfire}:queue:default:dequeued:lock": {id, time.Minute, `pattern: "{hangfire}:queue:*:dequeued:lock"`,
			[]string{"{hangfire}:queue:default", "{hangfire}:queue:default:dequeued"}},
		"my-dl-lock": {locked, time.Minute, `pattern: "my\\-dl\\-lock"`, []string{"my-dl-queue", "my-dl-1"}},
		"mylock-writers": {locked, time.Minute, `pattern: "mylock\\-writers"`,
			[]string{"mylock-readers", "mylock-queue"}},
		"order:7:lock":       {id, time.Minute, `pattern: "order:*:lock"`, []string{"order:7:items", "order:8"}},
		"RedisMutex:Order:7": {"1763000010.1234567", 0, `prefix: "RedisMutex:", no_ttl_allowed: true`, nil},
		"resque:lock:ReportJob-[11]": {"1763003601", 0, `prefix: "resque:lock:", no_ttl_allowed: true`,
			[]string{"resque:queue:default"}},
		"huey.r.shop.shop.lock.report": {"\x80\x05\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x011\x94.", 0,
			`prefix: "huey.r.shop.shop.lock.", no_ttl_allowed: true`, []string{"huey.redis.shop"}},
		`laravel_database_laravel_cache_:laravel_unique_job:App\Jobs\Report:11`: {"aB3dE5gH7jK9mN1p", 0,
			`prefix: "laravel_database_laravel_cache_:laravel_unique_job:", no_ttl_allowed: true`,
			[]string{"laravel_database_queues:default"}},
		"SINGLETONLOCK_d41d8cd98f00b204e9800998ecf8427e": {id, 0, `prefix: "SINGLETONLOCK_", no_ttl_allowed: true`,
			[]string{"celery"}},
	} {
		cmdtest.Must(t, c.FlushAll(t.Context()).Err())
		cmdtest.Set(t, c, key, one.value, one.ttl)
		scan := func(when string) {
			t.Helper()
			path := filepath.Join(t.TempDir(), "lockscope.yaml")
			command(t, "discover", "--redis", s.Addr(), "--pause", "0s", "--out", path).Want(t, ui.ExitClean)
			text, err := os.ReadFile(path)
			cmdtest.Must(t, err)
			o := command(t, "scan", "--config", path, "--confirm-after", "10ms", "--pause", "0s")
			if o.Status != ui.ExitClean {
				t.Errorf("%s, %s: %d\n%s\n%s", key, when, o.Status, text, o.Out)
			}
			if when != "alone" && !strings.Contains(string(text), "- {"+one.pattern) {
				t.Errorf("%s, %s: want %s in\n%s", key, when, one.pattern, text)
			}
		}
		scan("alone")
		for _, list := range one.beside {
			cmdtest.Must(t, c.RPush(t.Context(), list, "a").Err())
		}
		scan("beside others")
	}
}

// TestDiscoverRoundTrip scans healthy locks with the configuration that discover suggests for them. The scan finds
// nothing and reports no gap: at once, after the short-lived locks are gone, and after a lock of the same length is
// acquired anew.
func TestDiscoverRoundTrip(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	lasting := population(t, c)
	path := filepath.Join(t.TempDir(), "lockscope.yaml")
	command(t, "discover", "--redis", s.Addr(), "--pause", "0s", "--out", path).Want(t, ui.ExitClean, "wrote "+path)
	text, err := os.ReadFile(path)
	cmdtest.Must(t, err)
	t.Logf("%s", text)
	command(t, "config", "check", "--connect", path).Want(t, ui.ExitClean, "ok: 1 group, 1 server")
	scan := func(when string) {
		t.Helper()
		o := command(t, "scan", "--config", path, "--confirm-after", "10ms", "--pause", "0s")
		o.Want(t, ui.ExitClean)
		if strings.Contains(o.Out+o.Err, "INCOMPLETE") || t.Failed() {
			t.Fatalf("%s:\n%s%s", when, o.Out, o.Err)
		}
	}
	scan("at once")
	cmdtest.Set(t, c, "lock:nightly", "ADDED:"+time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+"@batch-8",
		10*time.Minute)
	scan("taken anew")
	keys, err := c.Keys(t.Context(), "*").Result()
	cmdtest.Must(t, err)
	for _, key := range keys {
		if key != lasting[0] && key != lasting[1] {
			cmdtest.Must(t, c.Del(t.Context(), key).Err())
		}
	}
	scan("when the short-lived are gone")
	cmdtest.Must(t, c.FlushAll(t.Context()).Err())
	scan("when all are gone")
	cmdtest.Set(t, c, "lock:stock", "8Q5xLzCgV2rEJwJ7yYtSIA==", 0)
	command(t, "scan", "--config", path, "--confirm-after", "10ms", "--pause", "0s").Want(t, ui.ExitFindings, "no_ttl",
		"lock:stock")
}
