package discover_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/discover"
)

// Values in the exact form of each library.
const (
	id      = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	hexRand = "9f86d081884c3d659a2feaa0c55ad015" // of node-redlock
	hexUUID = "6fa459eaee8a11ee8ca40242ac130003" // uuid1().hex of redis-py
)

func connect(t *testing.T, s *redisproc.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr()})
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sample(t *testing.T, c redis.UniversalClient, o discover.Options) discover.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o.Pause = -1
	r, err := discover.Sample(ctx, c, o)
	must(t, err)
	return r
}

// planted is one key as a library writes it.
type planted struct {
	library    discover.Library
	key, value string
	hash       []any
	ttl        time.Duration
	pattern    string
	confidence inspect.Confidence
}

func forms() []planted {
	const m = time.Minute
	return []planted{
		{discover.Lockscope, "orders:lock:1", "0123456789abcdef0123456789abcdef:17|web-3/4711|1763000000000||", nil, m,
			"orders:lock:*", inspect.High},
		{"redsync", "sync-lock:a:1", "8Q5xLzCgV2rEJwJ7yYtSIA==", nil, m, `sync\-lock:a:*`, inspect.Medium},
		{"redislock", "bsm:lock:1", "hTYMdGE4tKPBgV8bdmV0Nw", nil, m, "bsm:lock:*", inspect.High},
		{"redislock", "bsm2:lock:1", "hTYMdGE4tKPBgV8bdmV0Nwregion=eu", nil, m, "bsm2:lock:*", inspect.Low},
		{"node-redlock", "node:locks:1", hexRand, nil, m, "node:locks:*", inspect.Medium},
		{"Redisson lock", "plainOrder:7", "", []any{id + ":42", 1}, 30 * time.Second, "plainOrder:*", inspect.High},
		{"Redisson read-write lock", "rwOrder:7", "", []any{id + ":42:write", 1, "mode", "write"}, 30 * time.Second,
			"rwOrder:*", inspect.High},
		{"Redisson fair lock", "fairOrder:7", "", []any{id + ":42", 2}, 30 * time.Second, "fairOrder:*",
			inspect.High},
		{"Redisson semaphore", "permits:7", "3", nil, 0, "permits:*", inspect.High},
		{"Redisson semaphore", "semaphore:upload", "5", nil, 0, "semaphore:*", inspect.Low},
		{"ShedLock", "job-lock:default:nightly", "ADDED:2026-11-22T10:00:00.123Z@batch-7", nil, m,
			`job\-lock:default:*`, inspect.High},
		{"ShedLock", "shed:prod:x", "ADDED:2026-11-22T10:00:00.123456Z@batch-7:" + id, nil, m, "shed:prod:*",
			inspect.High},
		{"UUID token", "spring-lock:order-1", id, nil, m, `spring\-lock:order\-*`, inspect.Medium},
		{"UUID token", "ruby-order:1", id, nil, m, `ruby\-order:*`, inspect.Low},
		{"RedLock.net or pottery", "redlock:invoice:7", id, nil, m, "redlock:*", inspect.High},
		{"Hangfire", "{hangfire}:recurring-job:report:lock", id, nil, 30 * time.Second,
			`{hangfire}:recurring\-job:report:lock`, inspect.High},
		{"asynq", "asynq:{mail}:unique:email:welcome:d41d8cd98f00b204e9800998ecf8427e", id, nil, time.Hour,
			"asynq:{*}:unique:*", inspect.High},
		{"Laravel", "laravel_database_laravel_cache_:import", "aB3dE5gH7jK9mN1p", nil, m,
			`laravel_database_laravel_cache_:*`, inspect.High},
		{"redis-py", "py:lock:a", hexUUID, nil, 0, "py:lock:*", inspect.High},
		{"python-redis-lock", "lock:prl", "Q2hhbmdlIG1lIHRvIGEgbG9j", nil, m, "lock:*", inspect.Medium},
		{"sidekiq-unique-jobs", "uniquejobs:d41d8cd98f00b204e9800998ecf8427e:LOCKED", "",
			[]any{"b4a577edbccf1d805744efa9", "1763000000.123"}, 0, "uniquejobs:*:LOCKED", inspect.High},
		{"celery-singleton", "SINGLETONLOCK_d41d8cd98f00b204e9800998ecf8427e", id, nil, 0, "SINGLETONLOCK_*",
			inspect.High},
		{"redbeat", "redbeat::lock", hexUUID, nil, 25 * m, "redbeat::lock", inspect.High},
		{"BullMQ", "bull:mail:1234:lock", id + ":7", nil, 30 * time.Second, "bull:mail:*:lock", inspect.High},
		{"SETNX", "cron.lock.nightly", "1", nil, m, "cron.lock.*", inspect.Medium},
		{"SETNX", "deploy:mutex", "somebody", nil, 0, "deploy:mutex", inspect.Low},
	}
}

func plant(t *testing.T, c redis.Cmdable, all []planted) {
	t.Helper()
	ctx := t.Context()
	for _, f := range all {
		if f.hash != nil {
			must(t, c.HSet(ctx, f.key, f.hash...).Err())
			if f.ttl > 0 {
				must(t, c.Expire(ctx, f.key, f.ttl).Err())
			}
			continue
		}
		must(t, c.Set(ctx, f.key, f.value, f.ttl).Err())
	}
	// Keys that the libraries keep beside their locks.
	must(t, c.RPush(ctx, "redisson_lock_queue:{fairOrder:7}", id+":43").Err())
	must(t, c.ZAdd(ctx, "redisson_lock_timeout:{fairOrder:7}", redis.Z{Member: id + ":43"}).Err())
	must(t, c.ZAdd(ctx, "{permits:7}:timeout", redis.Z{Member: "p"}).Err())
	must(t, c.ZAdd(ctx, "uniquejobs:digests", redis.Z{Member: "d"}).Err())
	must(t, c.HSet(ctx, "bull:mail:1234", "name", "send").Err())
	must(t, c.ZAdd(ctx, "redbeat::schedule", redis.Z{Member: "s"}).Err())
}

// TestForms recognises each library's exact form, alone and among all others.
func TestForms(t *testing.T) {
	c := connect(t, locktest.Servers(t, 1)[0])
	for _, f := range forms() {
		must(t, c.FlushAll(t.Context()).Err())
		plant(t, c, []planted{f})
		checkForm(t, sample(t, c, discover.Options{}), f)
	}
	must(t, c.FlushAll(t.Context()).Err())
	plant(t, c, forms())
	r := sample(t, c, discover.Options{})
	for _, f := range forms() {
		checkForm(t, r, f)
	}
	if want := len(forms()) + 6; r.Sampled < int64(want) || !r.Whole {
		t.Errorf("%d of %d keys, whole %v", r.Sampled, want, r.Whole)
	}
	if len(r.Found) != len(forms()) {
		t.Errorf("%d findings of %d forms", len(r.Found), len(forms()))
	}
	text := fmt.Sprintf("%+v", r)
	for _, f := range forms() {
		if len(f.value) > 10 && strings.Contains(text, f.value) {
			t.Errorf("the result tells the value of %s", f.library)
		}
	}
	if strings.Contains(text, id) {
		t.Error("the result tells a client's id")
	}
}

func checkForm(t *testing.T, r discover.Result, want planted) {
	t.Helper()
	for _, f := range r.Found {
		if f.Library != want.library || f.Pattern != want.pattern {
			continue
		}
		if f.Keys != 1 || f.Example != want.key || f.Confidence != want.confidence || f.Evidence == "" {
			t.Errorf("%s: %+v", want.key, f)
		}
		if (f.NoTTL == 1) != (want.ttl == 0) || want.ttl > 0 &&
			(f.MaxTTL > want.ttl || f.MaxTTL < want.ttl-10*time.Second) {
			t.Errorf("%s: TTL %+v, want %v", want.key, f, want.ttl)
		}
		return
	}
	t.Errorf("%s is not taken for %s below %s: %+v", want.key, want.library, want.pattern, r.Found)
}

// TestOtherKeys are attributed to no library, or marked as a guess.
func TestOtherKeys(t *testing.T) {
	c := connect(t, locktest.Servers(t, 1)[0])
	ctx := t.Context()
	for key, value := range map[string]string{
		"counter:visits": "12345", "clock:now": "1763000000", "block:17": "1", "user:1": `{"name":"Ada"}`,
		"flag:beta":        "true",
		"page:/index.html": "<html></html>", "aB3dE5gH7jK9mN1p": "aB3dE5gH7jK9mN1p", "nightlyclock": "1",
	} {
		must(t, c.Set(ctx, key, value, time.Minute).Err())
	}
	must(t, c.HSet(ctx, "user:2", "name", "Ada", "mode", "read").Err())
	must(t, c.LPush(ctx, "queue:lock", "a").Err())
	if r := sample(t, c, discover.Options{}); len(r.Found) != 0 {
		t.Errorf("%+v", r.Found)
	}
	// What names itself otherwise is no lock, however random its value.
	for _, key := range []string{
		"session:abc", "app:sess:1", "etag:1", "csrf:9", "cache:page:1", "oauth_token:3", "user:1:refresh-token",
	} {
		for _, value := range []string{hexRand, hexUUID, id, "8Q5xLzCgV2rEJwJ7yYtSIA==", "hTYMdGE4tKPBgV8bdmV0Nw"} {
			must(t, c.Set(ctx, key, value, time.Minute).Err())
			if r := sample(t, c, discover.Options{}); len(r.Found) != 0 {
				t.Errorf("%s: %+v", key, r.Found)
			}
		}
	}
	must(t, c.Set(ctx, "thing:1", hexRand, time.Minute).Err())
	must(t, c.Set(ctx, "part:1", "8Q5xLzCgV2rEJwJ7yYtSIA==", time.Minute).Err())
	r := sample(t, c, discover.Options{})
	for _, f := range r.Found {
		if f.Confidence != inspect.Low {
			t.Errorf("%+v", f)
		}
	}
}

// TestTokensThatLookLikeOthers: by chance, some of many random tokens are UUIDs of version 1.
func TestTokensThatLookLikeOthers(t *testing.T) {
	c := connect(t, locktest.Servers(t, 1)[0])
	for i := range 40 {
		value := hexRand
		if i == 7 {
			value = hexUUID
		}
		must(t, c.Set(t.Context(), fmt.Sprintf("jobs:lock:%d", i), value, time.Minute).Err())
	}
	if r := sample(t, c, discover.Options{}); len(r.Found) != 1 || r.Found[0].Library != "node-redlock" ||
		r.Found[0].Keys != 40 || r.Found[0].Pattern != "jobs:lock:*" {
		t.Errorf("%+v", r.Found)
	}
}

// TestSampleIsBounded: it only reads, and little at a time.
func TestSampleIsBounded(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := connect(t, s)
	ctx := t.Context()
	pipe := c.Pipeline()
	for i := range 3000 {
		pipe.Set(ctx, fmt.Sprintf("lock:%d", i), "1", time.Minute)
	}
	_, err := pipe.Exec(ctx)
	must(t, err)
	must(t, c.Do(ctx, "ACL", "SETUSER", "reader", "on", ">pw", "%R~*", "resetchannels", "-@all",
		"+scan", "+pttl", "+getrange", "+strlen", "+exists", "+type", "+hlen", "+hgetall", "+memory|usage").Err())
	reader := redis.NewClient(&redis.Options{Addr: s.Addr(), Username: "reader", Password: "pw", DisableIdentity: true,
		Protocol: 2})
	defer reader.Close()
	r := sample(t, reader, discover.Options{Sample: 700, PageSize: 100})
	if r.Sampled != 700 || r.Whole || len(r.Found) != 1 || r.Found[0].Keys != 700 {
		t.Errorf("%d keys, whole %v, %+v", r.Sampled, r.Whole, r.Found)
	}
	if r := sample(t, reader, discover.Options{Sample: 100_000}); r.Sampled != 3000 || !r.Whole {
		t.Errorf("%d keys, whole %v", r.Sampled, r.Whole)
	}
	if _, err := discover.Sample(ctx, c, discover.Options{Sample: -1}); !errors.Is(err, scanner.ErrInvalidOption) {
		t.Errorf("%v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := discover.Sample(ended, c, discover.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestSampleOfACluster(t *testing.T) {
	cluster := locktest.Cluster(t, 3)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer c.Close()
	for i := range 60 {
		must(t, c.Set(t.Context(), fmt.Sprintf("lock:%d", i), "8Q5xLzCgV2rEJwJ7yYtSIA==", time.Minute).Err())
	}
	if r := sample(t, c, discover.Options{}); r.Sampled != 60 || !r.Whole || len(r.Found) != 1 ||
		r.Found[0].Library != "redsync" {
		t.Errorf("%+v", r)
	}
}
