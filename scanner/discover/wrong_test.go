package discover_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/discover"
)

// TestFormsOfOtherLibraries are keys that look like another library's.
func TestFormsOfOtherLibraries(t *testing.T) {
	c := connect(t, locktest.Servers(t, 1)[0])
	for key, one := range map[string]struct {
		value string
		ttl   time.Duration
		want  discover.Library
	}{
		// A task of asynq whose payload is nil, and one of a version that did not hash payloads: no digest at the end.
		// hibiken/asynq, internal/base/base.go: UniqueKey.
		"asynq:{default}:unique:mail:":          {id, time.Hour, "asynq"},
		`asynq:{default}:unique:mail:{"id":42}`: {id, time.Hour, "asynq"},
		// Rails: a digest and a UUID are not celery-singleton.
		// veeqo/activejob-uniqueness, lib/active_job/uniqueness/{lock_key,lock_manager}.rb.
		"activejob_uniqueness:report_job:d41d8cd98f00b204e9800998ecf8427e": {id, time.Hour,
			"activejob-uniqueness"},
		// Hangfire below a prefix of the application's own: a UUID and :lock are not BullMQ.
		// marcoCasamento/Hangfire.Redis.StackExchange, FetchedJobsWatcher.cs: queue:{queue}:dequeued:lock.
		"{shop}:queue:default:dequeued:lock":                   {id, time.Minute, "Hangfire"},
		"shop-hangfire:recurring-jobs:report:execution-locked": {id, time.Minute, "Hangfire"},
		// redlock-rb below the application's names.
		"shop:order:1001:lock": {id, time.Minute, "UUID token"},
		// A cache below digests.
		"fragment-lock:d41d8cd98f00b204e9800998ecf8427e": {id, time.Minute, "UUID token"},
		// 22 letters and digits are no base64 of 16 bytes unless the last one says so.
		// SPSCommerce/redlock-py, redlock/__init__.py: get_unique_id.
		"order-lock:1": {"hTYMdGE4tKPBgV8bdmV0Nx", time.Minute, "redlock-py"},
		// go-zero's are 16 letters and digits, too. zeromicro/go-zero, core/stores/redis/redislock.go: stringx.Randn.
		"stock-lock:1": {"aB3dE5gH7jK9mN1p", time.Minute, "alphanumeric token"},
		// 40 hex digits.
		"report-lock:1": {hexRand + "9f86d081", time.Minute, "redlock4j"},
	} {
		must(t, c.FlushAll(t.Context()).Err())
		must(t, c.Set(t.Context(), key, one.value, one.ttl).Err())
		if found := sample(t, c, discover.Options{}).Found; len(found) != 1 || found[0].Library != one.want {
			t.Errorf("%s is not taken for %s: %+v", key, one.want, found)
		}
	}
}
