package discover_test

import (
	"context"
	"errors"
	"fmt"
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
