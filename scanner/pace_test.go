package scanner_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner"
)

// TestAdaptivePause is a sweep with the default pause: it measures the server beside its pages, and reads all keys
// although the pages change their size.
func TestAdaptivePause(t *testing.T) {
	const locks, leaks = 20_000, 20
	f := startNodes(t, 1)
	must(t, f.clients[0].Eval(within(t), `
		for i = 1, ARGV[1] do
			redis.call('SET', 'lock:' .. i, ARGV[2] .. i, 'PX', 600000)
			redis.call('SET', 'other:' .. i, 'x')
		end
		for i = 1, ARGV[3] do redis.call('PERSIST', 'lock:' .. i) end
		return 1`, nil, locks, token, leaks).Err())
	s, err := scanner.New(f.clients, scanner.WithConfirmAfter(10*time.Millisecond), scanner.WithMaxWatched(locks))
	must(t, err)
	defer func() { must(t, s.Close()) }()
	r := sweep(t, s)
	n := r.Nodes[0]
	if n.Locks != locks || n.Counts[inspect.NoTTL] != leaks || len(r.Incomplete()) != 0 {
		t.Errorf("%d locks, %v, incomplete %v", n.Locks, n.Counts, r.Incomplete())
	}
	if scans, pages := calls(t, f.clients[0], "scan"), calls(t, f.clients[0], "evalsha_ro"); scans <= pages+1 {
		t.Errorf("%d SCANs for %d pages: nothing was measured beside them", scans, pages)
	}
}

// TestFlatPause sends nothing beside the pages.
func TestFlatPause(t *testing.T) {
	f := startNodes(t, 1)
	must(t, f.clients[0].Eval(within(t), `
		for i = 1, 2000 do redis.call('SET', 'lock:' .. i, i, 'PX', 600000) end
		return 1`, nil).Err())
	sweep(t, newScanner(t, f.clients, scanner.WithPause(20*time.Millisecond)))
	if scans, pages := calls(t, f.clients[0], "scan"), calls(t, f.clients[0], "evalsha_ro"); scans > pages+1 {
		t.Errorf("%d SCANs for %d pages", scans, pages)
	}
}

// calls returns how often a command was called, also by scripts.
func calls(t *testing.T, c redis.UniversalClient, command string) int {
	t.Helper()
	text, err := c.Info(within(t), "commandstats").Result()
	must(t, err)
	m := regexp.MustCompile(`cmdstat_` + command + `:calls=(\d+)`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%s was not called:\n%s", command, text)
	}
	n, err := strconv.Atoi(m[1])
	must(t, err)
	return n
}
