package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

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
