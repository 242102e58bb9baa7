package redisinfo_test

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

func TestParse(t *testing.T) {
	info := redisinfo.Parse("# Server\r\nrun_id:abc\r\nuptime_in_seconds:90\r\n\r\nrole:master\r\nmaxmemory:10\r\n" +
		"maxmemory_policy:allkeys-lru\r\nno field\r\ndb0:keys=3,expires=2,avg_ttl=0\r\ndb1:keys=x\r\ndb2:expires=2\r\n")
	if info.RunID() != "abc" || info.Role() != "master" || info.Uptime() != 90*time.Second ||
		info.Age() != 89*time.Second ||
		info.Eviction() != redisinfo.EvictionOn {
		t.Errorf("read %v", info)
	}
	for _, c := range []struct {
		db             int
		keys, expiring int64
		ok             bool
	}{{0, 3, 2, true}, {1, 0, 0, false}, {2, -1, 2, true}, {3, 0, 0, true}} {
		if keys, expiring, ok := info.Keyspace(c.db); ok != c.ok || ok && (keys != c.keys || expiring != c.expiring) {
			t.Errorf("database %d: %d, %d, %v", c.db, keys, expiring, ok)
		}
	}
}

func TestWhatIsNotReportedIsNotBelieved(t *testing.T) {
	for text, want := range map[string]redisinfo.Eviction{
		"": redisinfo.EvictionUnknown, "maxmemory:0": redisinfo.EvictionUnknown,
		"maxmemory:1":                                redisinfo.EvictionUnknown,
		"maxmemory_policy:allkeys-lru":               redisinfo.EvictionUnknown,
		"maxmemory:x\nmaxmemory_policy:allkeys-lru":  redisinfo.EvictionUnknown,
		"maxmemory_policy:noeviction":                redisinfo.EvictionOff,
		"maxmemory:1\nmaxmemory_policy:noeviction":   redisinfo.EvictionOff,
		"maxmemory:0\nmaxmemory_policy:allkeys-lru":  redisinfo.EvictionOff,
		"maxmemory:1\nmaxmemory_policy:volatile-ttl": redisinfo.EvictionOn,
		// Of versions that are newer than this code: what is not noeviction may evict.
		"maxmemory:1\nmaxmemory_policy:allkeys-lrm":   redisinfo.EvictionOn,
		"maxmemory:1\nmaxmemory_policy:volatile-lrm":  redisinfo.EvictionOn,
		"maxmemory:1\nmaxmemory_policy:no-such-thing": redisinfo.EvictionOn,
	} {
		if got := redisinfo.Parse(text).Eviction(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for role, want := range map[string]string{
		"master": "master", "slave": "slave", "replica": "slave", "active-replica": "slave", "primary": "primary", "": "",
	} {
		if got := redisinfo.Parse("role:" + role).Role(); got != want {
			t.Errorf("role %q is %q, want %q", role, got, want)
		}
	}
	for text, want := range map[string]string{
		"": "", "evicted_keys:3": "", "run_id:a": "a", "run_id:a\nevicted_keys:0": "a", "run_id:a\nevicted_keys:x": "a",
		"run_id:a\nevicted_keys:-3": "a", "run_id:a\nevicted_keys:3": "a+3",
	} {
		if got := redisinfo.Parse(text).Incarnation(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, uptime := range []string{"", "-1", "x", "99999999999999999999", "4294967296"} {
		if got := redisinfo.Parse("uptime_in_seconds:" + uptime); got.Uptime() != 0 || got.Age() != 0 {
			t.Errorf("uptime %q is %v", uptime, got.Uptime())
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# Server\r\nrun_id:a\r\nuptime_in_seconds:1\r\ndb0:keys=1,expires=0\r\n")
	f.Add(":\n:::\ndb0:keys=,")
	f.Fuzz(func(t *testing.T, text string) {
		info := redisinfo.Parse(text)
		if info.Age() < 0 || info.Age() > info.Uptime() {
			t.Fatalf("age %v of uptime %v", info.Age(), info.Uptime())
		}
		if keys, _, ok := info.Keyspace(0); ok && keys < -1 {
			t.Fatalf("%d keys", keys)
		}
	})
}
