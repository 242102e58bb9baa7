package discover_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/discover"
)

// programLocks are locks of programs and frameworks. libraries.txt names the sources.
func programLocks() []specimen {
	const high, medium, minute = inspect.High, inspect.Medium, time.Minute
	return []specimen{
		{language: "Go", library: "gocraft/work, Harbor", key: "{harbor_job_service_namespace}:jobs:IMAGE_SCAN:lock",
			value: "1", as: "gocraft/work", sure: high, alarm: inspect.NoTTL},
		{language: "Go", library: "machinery", key: "machinery_lock_workerreport@hourly", value: "1763000060000000000",
			ttl: 490_000 * time.Hour, as: "machinery", sure: high, alarm: inspect.LongTTL},
		{language: "Go", library: "Dapr", key: "lock||orders||order-1001", value: "web-3", ttl: minute, as: "Dapr", sure: high},
		{language: "Go", library: "LiveKit", key: "room_lock:standup", value: "LOCKc7GpQ2mWx9Rt", ttl: minute,
			as: "LiveKit", sure: high},
		{language: "Go", library: "Gitea, Forgejo", key: "gitea:globallock:pull_check_17", value: base64Of16, ttl: minute,
			as: "Gitea or Forgejo", sure: high},
		{language: "Java", library: "Spring Data cache", key: "orders~lock", value: "", as: "Spring Data cache", sure: high,
			alarm: inspect.NoTTL},
		{language: "Java", library: "JetCache", key: "orders:17_#RL#", value: "\xac\xed\x00\x05t\x00$" + id, ttl: minute,
			as: "JetCache", sure: high},
		{language: "Go", library: "glock", key: "lock:order:1001", value: "locked", ttl: minute, as: "SETNX", sure: medium},
		{language: "Node.js", library: "n8n", key: "n8n:main_instance_leader", value: "main-Zk3x9Qa7LmN0pRtU", ttl: minute,
			as: "n8n", sure: high},
		{language: "Node.js", library: "syncguard", key: "syncguard:order:1001", ttl: minute,
			value:  `{"lockId":"Zk3x9Qa7LmN0pRtUvWxYz0","expiresAtMs":1763000060000,"fence":"000000000000042"}`,
			beside: map[string]any{"syncguard:fence:order:1001": "42", "syncguard:id:Zk3x9Qa7LmN0pRtUvWxYz0": "order:1001"},
			as:     "syncguard", sure: high},
		{language: "Python", library: "dogpile.cache", key: "_lockuser:17", value: hexUUID, as: "dogpile.cache", sure: high,
			alarm: inspect.NoTTL},
		{language: "Python", library: "tooz", key: "_tooz_rebalance_lock", value: hexUUID, ttl: minute, as: "tooz", sure: high},
		{language: "Python", library: "kombu", key: "unacked_mutex", value: hexUUID, ttl: minute, as: "kombu", sure: high},
		{language: "Python", library: "Sentry", key: "l:monitor-tasks", value: "8743c9c007954907a7fd6c719a6b4586", ttl: minute,
			as: "Sentry", sure: medium},
		{language: "Ruby", library: "GitLab", key: "gitlab:exclusive_lease:project_housekeeping:4", value: id, ttl: minute,
			as: "GitLab", sure: high},
		{language: "Ruby", library: "Discourse", key: "default:theme_lock_17", value: "1763000060", ttl: minute,
			as: "Discourse", sure: medium},
		{language: "Ruby", library: "Sidekiq Enterprise", key: "dear-leader", value: "web-3:4711:abcdef123456", ttl: minute,
			as: "Sidekiq Enterprise", sure: high},
		{language: ".NET", library: "CSRedis", key: "CSRedisClientLock:order-1001", value: id, ttl: minute, as: "CSRedis",
			sure: high},
		{language: ".NET", library: "Foundatio", key: "lock:order:1001", value: "aB3dE5gH7jK9mN1p", ttl: minute,
			as: "alphanumeric token", sure: medium},
		{language: ".NET", library: "ServiceStack", key: "order-lock", value: "1794536060000", as: "SETNX", sure: medium,
			alarm: inspect.NoTTL},
		{language: "PHP", library: "Nextcloud", key: "ocabc123/lockfiles/" + md5Sum, value: `"exclusive"`, ttl: minute,
			as: "Nextcloud", sure: high},
		{language: "PHP", library: "phpredis session", key: "PHPREDIS_SESSION:s3vqp0q8kd2l7m1n9c5b4x6z8a_LOCK",
			value: "web-3|4711", ttl: minute, as: "phpredis session", sure: high},
		{language: "PHP", library: "Moodle session", key: "s3vqp0q8kd2l7m1n9c5b4x6z8a.lock",
			value: "[pid 4711] web-3:/mod/quiz/attempt.php", ttl: minute, as: "Moodle session", sure: high},
		{language: "PHP", library: "Laravel overlap lock", value: "aB3dE5gH7jK9mN1p",
			key: `laravel_database_laravel_cache_:laravel-queue-overlap:App\Jobs\Report`,
			as:  "Laravel overlap lock", sure: high, alarm: inspect.NoTTL},
	}
}

// TestProgramsExplained: explain names the holder and the end where the value has them, and what is by design.
func TestProgramsExplained(t *testing.T) {
	type known struct {
		holder string
		ends   int64 // in milliseconds
		advice string
	}
	const end = 1763000060000
	want := map[string]known{
		"gocraft/work, Harbor": {advice: "stays by design"},
		"machinery":            {ends: end, advice: "56 years by a mistake"},
		"Spring Data cache":    {advice: "no TTL unless"},
		"n8n":                  {holder: "main-Zk3x9Qa7LmN0pRtU", advice: "leading main instance"},
		"syncguard":            {ends: end},
		"dogpile.cache":        {advice: "no TTL unless"},
		"Discourse":            {ends: end},
		"Sidekiq Enterprise":   {holder: "web-3:4711", advice: "leading process"},
		"ServiceStack":         {ends: 1794536060000, advice: "a year ahead"},
		"Nextcloud":            {advice: "leaves it for ever"},
		"phpredis session":     {holder: "web-3|4711"},
		"Moodle session":       {holder: "[pid 4711] web-3"},
		"Laravel overlap lock": {advice: "never runs again"},
	}
	c := connect(t, locktest.Servers(t, 1)[0])
	programs := programLocks()
	if len(programs) != 24 {
		t.Errorf("%d programs", len(programs))
	}
	for _, s := range programs {
		s.plant(t, c, s.ttl)
		x, err := discover.Explain(t.Context(), c, s.key)
		must(t, err)
		w := want[s.library]
		delete(want, s.library)
		if x.Holder != w.holder || x.Ends.IsZero() != (w.ends == 0) || w.ends != 0 && x.Ends.UnixMilli() != w.ends ||
			!strings.Contains(x.Advice, w.advice) || (x.Advice == "") != (w.advice == "") {
			t.Errorf("%s: %+v, want %+v", s.library, x, w)
		}
	}
	for library := range want {
		t.Errorf("no specimen of %s", library)
	}
}
