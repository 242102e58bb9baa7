package scanner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine/records"
	"github.com/lockscope/lockscope/lock/redlock/stored"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

// plantQueue puts processes into the queue of a lock, as they do themselves.
func plantQueue(t *testing.T, c redis.Cmdable, resource string, processes int) {
	t.Helper()
	key := "lock:" + resource
	now := time.Now().Add(-time.Minute)
	pipe := c.Pipeline()
	for i := range processes {
		since := now.Add(time.Duration(i) * time.Microsecond)
		id := fmt.Sprintf("w%05d", i)
		pipe.ZAdd(t.Context(), stored.QueueKey(key), redis.Z{Score: float64(since.UnixMicro()), Member: id})
		says := records.Waiting{Holder: lock.Holder{Instance: fmt.Sprintf("pod-%d", i), Since: since}, Callers: 2}
		pipe.Set(t.Context(), "lockscope:waiter:{"+key+"}:"+id,
			fmt.Sprintf("%d\n%s", since.UnixMicro(), says.Append(nil)), time.Hour)
	}
	_, err := pipe.Exec(t.Context())
	must(t, err)
}

// plantKeys makes locks that nobody waits for.
func plantKeys(t *testing.T, c redis.Cmdable, n int) {
	t.Helper()
	for from := 0; from < n; from += 10_000 {
		pipe := c.Pipeline()
		for i := range 10_000 {
			pipe.Set(t.Context(), fmt.Sprintf("lock:%d", from+i), redsyncValue, time.Hour)
		}
		_, err := pipe.Exec(t.Context())
		must(t, err)
	}
}

// commands is how often each command was called since the last time.
func commands(t *testing.T, c redis.Cmdable) map[string]int {
	t.Helper()
	text, err := c.Info(t.Context(), "commandstats").Result()
	must(t, err)
	must(t, c.ConfigResetStat(t.Context()).Err())
	counted := make(map[string]int)
	for line := range strings.Lines(text) {
		var n int
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if _, err := fmt.Sscanf(rest, "%d", &n); err == nil {
			counted[name] = n
		}
	}
	return counted
}

// TestAWatchIsBounded: a look searches some of many keys, reads the waiters of some of many locks, and counts the others.
func TestAWatchIsBounded(t *testing.T) {
	f := startNodes(t, 1)
	c := f.clients[0]
	const keys, contended = 100_000, 600
	plantKeys(t, c, keys)
	for i := range contended {
		plantQueue(t, c, fmt.Sprintf("order:%d", i), 1)
	}
	plantQueue(t, c, "crowded", 1000)
	w := newScanner(t, f.clients).Watch(time.Minute)
	look := func(waitedFor ...string) (*listing.Waits, map[string]int) {
		commands(t, c)
		waits, err := w.Look(within(t), nil, waitedFor)
		must(t, err)
		return waits, commands(t, c)
	}
	waits, did := look("crowded")
	if did["scan"] > 40 || did["keys"]+did["info"]+did["ping"] > 1 {
		t.Errorf("the first look calls %v", did)
	}
	if s := waits.Searched[0]; !s.Ended.IsZero() || s.Began.IsZero() || s.Keys <= 0 || s.Keys > 20_000 {
		t.Errorf("after one look: %+v", s)
	}
	if !slices.ContainsFunc(waits.Locks, func(l listing.WaitedFor) bool { return l.Resource == "crowded" }) {
		t.Error("a lock that was named is not found at once")
	}
	looks := 1
	for ; waits.Searched[0].Ended.IsZero(); looks++ {
		if looks > 100 {
			t.Fatalf("no whole pass after %d looks: %+v", looks, waits.Searched[0])
		}
		waits, did = look()
	}
	t.Logf("%d looks for a pass through %d keys; the last: %v", looks, keys, did)
	if len(waits.Locks) != 100 || waits.More != 400 || !waits.Omitted {
		t.Errorf("%d locks and %d more, omitted %v", len(waits.Locks), waits.More, waits.Omitted)
	}
	crowded := waits.Locks[0]
	if crowded.Resource != "crowded" || crowded.Processes != 1000 || len(crowded.Queue) != listing.MaxQueued ||
		crowded.Callers != 200 || crowded.Queue[0].Says.Instance != "pod-0" {
		t.Errorf("%s: %d processes, %d listed, %d callers", crowded.Resource, crowded.Processes, len(crowded.Queue),
			crowded.Callers)
	}
	for name, limit := range map[string]int{
		"scan": 40, "zcard": 600, "zrange": 600, "mget": 100, "getrange": 100, "pttl": 100,
	} {
		if did[name] > limit {
			t.Errorf("a look calls %s %d times, more than %d", name, did[name], limit)
		}
	}
}

// TestAWatchWithoutANode neither waits for a node that is known to be silent, nor takes its vote for a refusal.
func TestAWatchWithoutANode(t *testing.T) {
	f := startNodes(t, 3)
	for _, c := range f.clients[1:] {
		set(t, c, "lock:order", lockscopeValue(token, time.Now()), time.Hour)
	}
	plantQueue(t, f.clients[1], "order", 1)
	must(t, f.servers[0].Pause())
	w := newScanner(t, f.clients, scanner.WithNodeNames("a", "b", "c")).Watch(time.Minute)
	began := time.Now()
	waits, err := w.Look(within(t), []string{"a"}, nil)
	must(t, err)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if waits.Read != 2 || waits.Of != 3 || len(waits.Locks) != 1 {
		t.Fatalf("%+v", waits)
	}
	if l := waits.Locks[0].Lock; l == nil || l.Nodes != 2 || l.Of != 2 || l.Silent != 1 || !l.Held() {
		t.Errorf("%+v", l)
	}
	hung := newScanner(t, f.clients, scanner.WithNodeNames("a", "b", "c")).Watch(time.Second)
	began = time.Now()
	waits, err = hung.Look(within(t), nil, nil)
	if took := time.Since(began); took > 10*time.Second || asNode(t, err, "a") == nil || len(waits.Locks) != 1 {
		t.Errorf("it took %v: %v", took, err)
	}
	must(t, f.servers[0].Resume())
}
