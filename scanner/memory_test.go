package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/report"
)

// stores lists the kinds of memory.
func stores(t *testing.T, clients []redis.UniversalClient) map[string]scanner.Store {
	return map[string]scanner.Store{
		"file":  scanner.FileStore(filepath.Join(t.TempDir(), "state.json")),
		"redis": scanner.RedisStore(clients, "test"),
	}
}

// TestZombieOverProcesses uses a new process for each sweep, as cron does.
func TestZombieOverProcesses(t *testing.T) {
	f := startNodes(t, 2)
	c, ctx := f.clients[0], within(t)
	for name, store := range stores(t, f.clients) {
		var clk clock
		var resolved []report.Finding
		appeared := 0
		run := func() report.Report {
			must(t, c.HSet(ctx, "lock:redisson", redissonID+":7", 1).Err())
			must(t, c.Expire(ctx, "lock:redisson", 30*time.Second).Err())
			must(t, c.Set(ctx, "lock:redsync", redsyncValue, 30*time.Second).Err())
			s, err := scanner.New(f.clients, fast(scanner.WithNow(clk.now), scanner.WithMemory(store),
				scanner.WithHoldLimit(time.Hour),
				scanner.WithOnFinding(func(report.Finding) { appeared++ }),
				scanner.WithOnResolved(func(f report.Finding) { resolved = append(resolved, f) }))...)
			must(t, err)
			defer s.Close()
			return sweep(t, s)
		}
		for range 2 {
			wantFindings(t, name, run().Findings)
			clk.pass(40 * time.Minute)
		}
		want := []string{"held_too_long lock:redisson", "held_too_long lock:redsync"}
		for range 2 {
			report := run()
			wantFindings(t, name+", third scan", report.Findings, want...)
			if report.Findings[0].FirstSeen.After(clk.now()) || !strings.Contains(report.Findings[0].Evidence, "1h") {
				t.Errorf("%s: %+v", name, report.Findings[0])
			}
		}
		if appeared != 2 {
			t.Errorf("%s: %d findings announced, want 2: the fourth process knows them", name, appeared)
		}
		must(t, c.Del(ctx, "lock:redisson", "lock:redsync").Err())
		s := newScanner(t, f.clients, scanner.WithNow(clk.now), scanner.WithMemory(store), scanner.WithEmptyAllowed())
		wantFindings(t, name+", released while no process ran", sweep(t, s).Resolved, want...)
		wantFindings(t, name+", told once", sweep(t, s).Resolved)
	}
}

// TestMemoryHoldsNoSecrets reads the stored memory.
func TestMemoryHoldsNoSecrets(t *testing.T) {
	f := startNodes(t, 1)
	ctx := within(t)
	plant(t, f.clients[0], time.Now())
	path := filepath.Join(t.TempDir(), "state.json")
	s := newScanner(t, f.clients, scanner.WithMemory(scanner.FileStore(path)))
	report := sweep(t, s)
	if len(report.Findings) == 0 {
		t.Fatal("nothing found")
	}
	must(t, scanner.RedisStore(f.clients, "x").Save(ctx, []byte("y")))
	data, err := os.ReadFile(path)
	must(t, err)
	for _, secret := range []string{token, redsyncValue, redislockVal, redissonID, shedLockUUID} {
		if strings.Contains(string(data), secret) {
			t.Errorf("%s is in the file", secret)
		}
	}
	for _, finding := range report.Findings {
		if id := scanner.Identity(finding); strings.Contains(id, ":") &&
			strings.Contains(string(data), id[strings.Index(id, ":")+1:]) {
			t.Errorf("the digest of a value is in the file without salt: %s", id)
		}
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if ttl := f.clients[0].PTTL(ctx, "lockscope:scanner:memory:x").Val(); ttl <= 0 {
		t.Errorf("TTL %v in Redis", ttl)
	}
	left, err := filepath.Glob(path + ".*")
	must(t, err)
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestMemoryThatCannotBeRead is not overwritten, and the sweep runs anyway.
func TestMemoryThatCannotBeRead(t *testing.T) {
	f := startNodes(t, 1)
	must(t, f.clients[0].Set(within(t), "lock:a", "1", 0).Err())
	for text, op := range map[string]string{"{": "load", `{"version":99}`: "load", "": "save"} {
		path := filepath.Join(t.TempDir(), "state.json")
		if text != "" {
			must(t, os.WriteFile(path, []byte(text), 0o600))
		} else {
			path = filepath.Join(path, "in a folder that is not there")
		}
		s := newScanner(t, f.clients, scanner.WithMemory(scanner.FileStore(path)))
		report, err := s.Sweep(within(t))
		var failure *scanner.MemoryError
		if !errors.As(err, &failure) || failure.Op != op {
			t.Errorf("%q: error %v, want a MemoryError of %s", text, err, op)
		}
		if strings.Contains(text, "99") != strings.Contains(err.Error(), "another version") {
			t.Errorf("%q: error %v", text, err)
		}
		wantFindings(t, text, report.Findings, "no_ttl lock:a")
		if after, _ := os.ReadFile(path); string(after) != text {
			t.Errorf("%q was replaced by %q", text, after)
		}
	}
}

// TestRedisStoreOutlivesAServer saves with one server down and loads with the other one down.
func TestRedisStoreOutlivesAServer(t *testing.T) {
	f := startNodes(t, 3)
	ctx := within(t)
	store := scanner.RedisStore(f.clients, "x")
	if data, err := store.Load(ctx); data != nil || err != nil {
		t.Errorf("before the first Save: %q, %v", data, err)
	}
	must(t, store.Save(ctx, []byte("old")))
	must(t, f.servers[0].Kill())
	must(t, store.Save(ctx, []byte("new")))
	must(t, f.servers[1].Kill())
	if data, err := store.Load(ctx); string(data) != "new" || err != nil {
		t.Errorf("loaded %q, %v", data, err)
	}
	must(t, f.servers[2].Kill())
	if _, err := store.Load(ctx); err == nil {
		t.Error("nobody answers, and nothing is wrong")
	}
	if err := store.Save(ctx, nil); err == nil {
		t.Error("nobody has it, and nothing is wrong")
	}
}

// TestZombieBehindBusyLocks has one lasting holder, and more holders that come and go than the scanner watches.
func TestZombieBehindBusyLocks(t *testing.T) {
	f := startNodes(t, 1)
	c, ctx := f.clients[0], within(t)
	var clk clock
	const busy, watched = 1200, 1000
	s := newScanner(t, f.clients, scanner.WithNow(clk.now), scanner.WithMaxWatched(watched),
		scanner.WithHoldLimit(time.Hour))
	var r report.Report
	for i := range 40 {
		pipe := c.Pipeline()
		for k := range busy {
			pipe.Set(ctx, fmt.Sprint("lock:busy:", k), randomToken(), time.Minute)
		}
		pipe.Set(ctx, "lock:zombie", redsyncValue, time.Minute)
		_, err := pipe.Exec(ctx)
		must(t, err)
		if r = sweep(t, s); len(r.Findings) > 0 {
			break
		}
		if n := r.Nodes[0]; n.Unwatched < busy-watched || n.Unwatched > busy+1-watched {
			t.Errorf("sweep %d: %d unwatched, want %d: one perhaps has been recognised as indistinct", i, n.Unwatched,
				busy+1-watched)
		}
		wantGaps(t, "crowded", r, inspect.ReasonUnwatched)
		clk.pass(10 * time.Minute)
	}
	t.Logf("pending %v, nodes %+v", brief(r.Pending), r.Nodes)
	wantFindings(t, "among busy ones", r.Findings, "held_too_long lock:zombie")
}

// TestFailoverMovesFindings: a master of a cluster dies. Its leak moves to another node and must not count as resolved.
func TestFailoverMovesFindings(t *testing.T) {
	t.Parallel()
	cl := locktest.Cluster(t, 3, redisproc.WithReplicas(1))
	c, ctx := clusterClient(t, cl), within(t)
	const key = "lock:{b}" // its slot is served by the first master
	m := clientOf(t, cl.Servers()[0])
	must(t, m.Set(ctx, key, redsyncValue, 0).Err())
	must(t, m.HSet(ctx, key+":held", redissonID+":7", 1).Err())
	must(t, m.Expire(ctx, key+":held", time.Minute).Err())
	if n, err := m.Wait(ctx, 1, 30*time.Second).Result(); n != 1 {
		t.Fatalf("WAIT: %d, %v", n, err)
	}
	var appeared, gone []string
	var clk clock
	store := scanner.FileStore(filepath.Join(t.TempDir(), "state.json"))
	opts := []scanner.Option{
		scanner.WithNow(clk.now), scanner.WithHoldLimit(time.Minute), scanner.WithMemory(store),
		scanner.WithOnFinding(func(f report.Finding) { appeared = append(appeared, string(f.Class)+" "+f.Key) }),
		scanner.WithOnResolved(func(f report.Finding) { gone = append(gone, f.Key) }),
	}
	s := newScanner(t, []redis.UniversalClient{c}, opts...)
	for range 3 {
		sweep(t, s)
		clk.pass(31 * time.Second)
	}
	if len(appeared) != 2 {
		t.Fatalf("found %v", appeared)
	}
	other := newScanner(t, []redis.UniversalClient{clusterClient(t, cl)}, opts...)
	must(t, cl.Servers()[0].Kill())
	addr := cl.Replicas(0)[0].Addr()
	for name, s := range map[string]*scanner.Scanner{"the same process": s, "another process": other} {
		eventually(t, "findings on the new master", func() bool {
			report, _ := s.Sweep(context.WithoutCancel(ctx))
			for _, f := range report.Findings {
				if f.Node != addr {
					return false
				}
			}
			if len(report.Findings) != 2 {
				t.Fatalf("%s: lost on the way: %v, resolved %v", name, brief(report.Findings), brief(report.Resolved))
			}
			return true
		})
	}
	if len(appeared) != 2 || len(gone) != 0 {
		t.Errorf("appeared %v, gone %v", appeared, gone)
	}
}
