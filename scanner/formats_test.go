package scanner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
	"github.com/lockscope/lockscope/scanner/report"
)

// paths are the ways to read pages. Findings must not depend on them.
func paths() []report.Path { return []report.Path{report.PathScript, report.PathPipeline} }

// plant writes sound and leaked locks of every format, and keys that are no locks.
func plant(t testing.TB, c redis.UniversalClient, now time.Time) {
	t.Helper()
	long := now.Add(-2 * time.Hour)
	p := c.Pipeline()
	ctx := within(t)
	set := func(key, value string, ttl time.Duration) { p.Set(ctx, key, value, ttl) }
	hash := func(key string, ttl time.Duration, fields ...any) {
		p.HSet(ctx, key, fields...)
		if ttl > 0 {
			p.PExpire(ctx, key, ttl)
		}
	}
	for i, ttl := range []struct {
		name string
		d    time.Duration
	}{{"leak", 0}, {"ok", time.Minute}, {"long", 100 * time.Hour}} {
		suffix, client := strings.Repeat("x", i), fmt.Sprintf("%s:%d", redissonID, 42+i)
		set("lock:redsync:"+ttl.name, suffix+redsyncValue[i:], ttl.d)
		set("lock:redislock:"+ttl.name, redislockVal+suffix, ttl.d)
		set("lock:setnx:"+ttl.name, "1", ttl.d)
		set("lock:empty:"+ttl.name, "", ttl.d)
		set("lock:lockscope:"+ttl.name, lockscopeValue(token[:31]+fmt.Sprint(i), now), ttl.d)
		set("lock:shedlock:"+ttl.name, shedLockValue(now.Add(-time.Duration(i)*time.Second)), ttl.d)
		hash("lock:redisson:"+ttl.name, ttl.d, client, 3)
		hash("lock:rw:"+ttl.name, ttl.d, client+":write", 1, "mode", "write")
	}
	set("lock:lockscope:zombie", lockscopeValue(token, long), time.Minute)
	set("lock:shedlock:zombie", shedLockValue(long), time.Minute)
	set("lock:shedlock:both", shedLockValue(long.Add(-time.Second)), 100*time.Hour)

	p.RPush(ctx, "lock:list", "a")
	p.SAdd(ctx, "lock:set", "a")
	p.ZAdd(ctx, "lock:zset", redis.Z{Member: "a"})
	p.XAdd(ctx, &redis.XAddArgs{Stream: "lock:stream", Values: []any{"a", "b"}})
	p.Expire(ctx, "lock:list", time.Minute)
	hash("lock:profile", 0, "name", "Ada", "age", 36)
	hash("lock:bighash", 0, manyFields(500)...)
	hash("lock:hugefield", 0, redissonID+":1", strings.Repeat("9", 100_000))
	set("lock:long", strings.Repeat("x", 10_000), 0)
	set("lock:bin\x00ary\xff\n", "bin"+redsyncValue[3:], 0)

	// None of these may be reported.
	set("lockscope:fence:{1}", "99", 0)
	set("lockscope:slots:{lock:pool}", "5", 48*time.Hour)
	set("other:1", "x", 0)
	set("xlock:1", "x", 0)
	p.RPush(ctx, "redisson_lock_queue:{lock:fair}", "w")
	p.ZAdd(ctx, "redisson_lock_timeout:{lock:fair}", redis.Z{Member: "w"})
	p.RPush(ctx, "redisson_unlock_latch:{lock:fair}", "w")
	set("lock:{rw}:"+redissonID+":42:rwlock_timeout:1", "1", 0)
	_, err := p.Exec(ctx)
	must(t, err)
}

func manyFields(n int) (fields []any) {
	for i := range n {
		fields = append(fields, fmt.Sprintf("%s:%d", redissonID, i), 1)
	}
	return fields
}

func planted() []string {
	return []string{
		"no_ttl lock:redsync:leak", "no_ttl lock:redislock:leak", "no_ttl lock:setnx:leak", "no_ttl lock:empty:leak",
		"no_ttl lock:lockscope:leak", "no_ttl lock:shedlock:leak", "no_ttl lock:redisson:leak", "no_ttl lock:rw:leak",
		"long_ttl lock:redsync:long", "long_ttl lock:redislock:long", "long_ttl lock:setnx:long",
		"long_ttl lock:empty:long",
		"long_ttl lock:lockscope:long", "long_ttl lock:shedlock:long", "long_ttl lock:redisson:long",
		"long_ttl lock:rw:long",
		"held_too_long lock:lockscope:zombie", "held_too_long lock:shedlock:zombie",
		"held_too_long lock:shedlock:both", "long_ttl lock:shedlock:both",
		"foreign_type lock:list", "foreign_type lock:set", "foreign_type lock:zset", "foreign_type lock:stream",
		"foreign_type lock:profile", "foreign_type lock:bighash", "foreign_type lock:hugefield",
		"no_ttl lock:long", `no_ttl "lock:bin\x00ary\xff\n"`,
	}
}

func TestBothPathsFindTheSame(t *testing.T) {
	f := startNodes(t, 1)
	plant(t, f.clients[0], time.Now())
	var texts []string
	for _, protocol := range []int{2, 3} {
		c := redis.NewClient(&redis.Options{Addr: f.servers[0].Addr(), Protocol: protocol})
		defer c.Close()
		for _, path := range paths() {
			for _, size := range []int{1, 7, 500} {
				s := newScanner(t, []redis.UniversalClient{c}, scanner.UsePath(path), scanner.WithPageSize(size))
				report := sweep(t, s)
				wantFindings(t, fmt.Sprint(path, " RESP", protocol), report.Findings, planted()...)
				n := report.Nodes[0]
				if n.Path != path || n.Truncated || n.Err != nil || n.Unread != 0 || n.Unwatched != 0 || n.Locks != 36 {
					t.Errorf("report %+v", n)
				}
				if len(report.Pending)+len(report.Resolved)+report.Overflow != 0 {
					t.Errorf("pending %v, resolved %v, overflow %d", brief(report.Pending), brief(report.Resolved),
						report.Overflow)
				}
				texts = append(texts, dump(report.Findings))
			}
		}
	}
	for _, text := range texts {
		if text != texts[0] {
			t.Errorf("paths differ:\n%s\n%s", texts[0], text)
		}
	}
}

// dump returns everything about findings that does not change with time.
func dump(findings []report.Finding) string {
	var all []string
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s %q %s %v %v %s", f.Class, f.Key, f.Type, f.TTL < 0, f.Hold,
			scanner.Identity(f)))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func TestHoldersAreShown(t *testing.T) {
	f := startNodes(t, 1)
	now := time.Now().Truncate(time.Millisecond)
	plant(t, f.clients[0], now)
	r := sweep(t, newScanner(t, f.clients))
	for _, c := range []struct {
		key  string
		want inspect.Hold
	}{
		{"lock:lockscope:leak", inspect.Hold{Format: inspect.FormatLockscope, Fence: 17,
			Holder: lock.Holder{Instance: "web-3/4711", Since: now,
				Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}},
		{"lock:shedlock:leak", inspect.Hold{Format: inspect.FormatShedLock,
			Holder: lock.Holder{Instance: "batch-7", Since: now.UTC()}}},
		{"lock:redisson:leak", inspect.Hold{Format: inspect.FormatRedisson,
			Holder: lock.Holder{Instance: "8743c9c0…:42"}, Count: 3}},
		{"lock:rw:leak", inspect.Hold{Format: inspect.FormatRedisson, Holder: lock.Holder{Instance: "8743c9c0…:42"},
			Count: 1}},
		{"lock:redsync:leak", inspect.Hold{Format: inspect.FormatUnknown}},
		{"lock:redislock:leak", inspect.Hold{Format: inspect.FormatUnknown}},
		{"lock:setnx:leak", inspect.Hold{Format: inspect.FormatUnknown}},
	} {
		got := find(t, r.Findings, inspect.NoTTL, c.key).Hold
		if !got.Since.Equal(c.want.Since) {
			t.Errorf("%s: since %v, want %v", c.key, got.Since, c.want.Since)
		}
		got.Since, c.want.Since = time.Time{}, time.Time{}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.key, got, c.want)
		}
	}
}

// TestNoSecretIsShown looks in all output of a sweep for tokens that authorize a release.
func TestNoSecretIsShown(t *testing.T) {
	f := startNodes(t, 1)
	plant(t, f.clients[0], time.Now())
	var out strings.Builder
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := newScanner(t, f.clients, scanner.WithLogger(logger),
		scanner.WithOnFinding(func(f report.Finding) { fmt.Fprintln(&out, f.Evidence, f.Hold) }))
	report := sweep(t, s)
	must(t, json.NewEncoder(&out).Encode(report.Findings))
	must(t, json.NewEncoder(&out).Encode(s.Snapshot().Last.Findings))
	for _, secret := range []string{token[:31], redsyncValue, redislockVal[:10], redissonID, redissonID[9:],
		shedLockUUID, "Ada"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%q is shown", secret)
		}
	}
	if !strings.Contains(out.String(), "lock:redsync:leak") {
		t.Error("nothing was logged")
	}
}

func TestPatterns(t *testing.T) {
	f := startNodes(t, 1)
	ctx := within(t)
	for _, key := range []string{"lock:a", "app[1]*:x", "app1z:x", "{t}:lock:b", "lockscope:fence:{1}",
		"lockscope:slots:{lock:pool}", "redisson_lock_queue:{q}", "syncguard:fence:a", "syncguard:id:a"} {
		must(t, f.clients[0].Set(ctx, key, "1", 0).Err())
	}
	must(t, f.clients[0].Set(ctx, "redisson_unlock_latch:{q}", "1", time.Minute).Err())
	for _, c := range []struct {
		name string
		opt  scanner.Option
		want []string
	}{
		{"default", scanner.WithPrefix(lock.DefaultPrefix), []string{"no_ttl lock:a"}},
		{"escaped prefix", scanner.WithPrefix("app[1]*:"), []string{"no_ttl app[1]*:x"}},
		{"pattern", scanner.WithPatterns("*lock:*"), []string{"no_ttl lock:a", "no_ttl {t}:lock:b"}},
		{"glob", scanner.WithPatterns("app[1]*:x"), []string{"no_ttl app1z:x"}},
		{"beside helpers", scanner.WithPatterns("syncguard:*"), nil},
		{"all", scanner.WithPatterns("*"), []string{"no_ttl lock:a", "no_ttl {t}:lock:b", "no_ttl app[1]*:x",
			"no_ttl app1z:x"}},
		{"helpers only", scanner.WithPatterns("lockscope:*"), nil},
		{"nothing", scanner.WithPatterns("nothing:*"), nil},
	} {
		for _, path := range paths() {
			report := sweep(t, newScanner(t, f.clients, c.opt, scanner.UsePath(path), scanner.WithMaxValues(0)))
			wantFindings(t, c.name+" "+string(path), report.Findings, c.want...)
			if n := report.Nodes[0]; int(n.Locks) != len(c.want) || n.Truncated {
				t.Errorf("%s %s: %d locks, want %d", c.name, path, n.Locks, len(c.want))
			}
		}
	}
}

// TestHugeValueIsNotRead counts the server's bytes on its connections.
func TestHugeValueIsNotRead(t *testing.T) {
	f := startNodes(t, 1)
	ctx := within(t)
	const size = 128 << 20
	must(t, f.clients[0].SetRange(ctx, "lock:huge", size-1, "x").Err())
	for _, path := range paths() {
		before := sentBytes(ctx, t, f.clients[0])
		peak := peakMemory(ctx, t, f.clients[0])
		s := newScanner(t, f.clients, scanner.UsePath(path))
		wantFindings(t, string(path), sweep(t, s).Findings, "no_ttl lock:huge")
		if l := list(t, s, listing.Options{}); len(l.Locks) != 1 {
			t.Errorf("%s: listed %q", path, listedKeys(l))
		}
		if sent := sentBytes(ctx, t, f.clients[0]) - before; sent > 100_000 {
			t.Errorf("%s: the server sent %d bytes", path, sent)
		}
		if grown := peakMemory(ctx, t, f.clients[0]) - peak; grown > 50<<20 {
			t.Errorf("%s: the server's peak memory grew by %d bytes", path, grown)
		}
	}
}

func sentBytes(ctx context.Context, t testing.TB, c redis.UniversalClient) int64 {
	return infoNumber(ctx, t, c, "stats", "total_net_output_bytes")
}

func peakMemory(ctx context.Context, t testing.TB, c redis.UniversalClient) int64 {
	return infoNumber(ctx, t, c, "memory", "used_memory_peak")
}

func infoNumber(ctx context.Context, t testing.TB, c redis.UniversalClient, section, field string) (n int64) {
	t.Helper()
	text, err := c.Info(ctx, section).Result()
	must(t, err)
	for line := range strings.Lines(text) {
		if number, found := strings.CutPrefix(line, field+":"); found {
			_, err = fmt.Sscan(number, &n)
			must(t, err)
		}
	}
	return n
}
