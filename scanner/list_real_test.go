package scanner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
	"github.com/lockscope/lockscope/scanner/listing"
)

const otherToken = "fedcba9876543210fedcba9876543210"

func list(t testing.TB, s *scanner.Scanner, o listing.Options) listing.Listing {
	t.Helper()
	all, err := s.List(within(t), o)
	must(t, err)
	if all.Truncated {
		t.Errorf("truncated: %+v", all.Nodes)
	}
	return all
}

func listed(t testing.TB, l listing.Listing, key string) listing.Lock {
	t.Helper()
	for _, lock := range l.Locks {
		if lock.Key == key {
			return lock
		}
	}
	t.Fatalf("%s is not listed", inspect.KeyText(key))
	return listing.Lock{}
}

func listedKeys(l listing.Listing) (keys []string) {
	for _, lock := range l.Locks {
		keys = append(keys, lock.Key)
	}
	return keys
}

func set(t testing.TB, c redis.Cmdable, key, value string, ttl time.Duration) {
	t.Helper()
	must(t, c.Set(within(t), key, value, ttl).Err())
}

// TestListOverNodes plants every state of a lock on three nodes.
func TestListOverNodes(t *testing.T) {
	f := startNodes(t, 3)
	since := time.Now().Add(-90 * time.Second).Truncate(time.Millisecond)
	a, b := lockscopeValue(token, since), lockscopeValue(otherToken, since)
	for i, c := range f.clients {
		set(t, c, "lock:all", a, time.Duration(i+1)*time.Hour)
		set(t, c, "lock:split", []string{a, b, a}[i], time.Hour)
		set(t, c, "lock:leak", redsyncValue, 0)
		set(t, c, "lockscope:fence:{1}", "7", 0)
		set(t, c, "elsewhere", "7", 0)
		must(t, c.HSet(within(t), "lock:redisson", redissonID+":42", 3).Err())
		must(t, c.PExpire(within(t), "lock:redisson", time.Minute).Err())
	}
	set(t, f.clients[1], "lock:minority", a, time.Hour)
	set(t, f.clients[0], "lock:pair", a, time.Hour)
	set(t, f.clients[2], "lock:pair", a, 2*time.Hour)
	for _, path := range paths() {
		l := list(t, newScanner(t, f.clients, scanner.UsePath(path)), listing.Options{})
		for _, want := range []struct {
			key    string
			nodes  int
			split  bool
			ttl    time.Duration
			format inspect.Format
			name   string
		}{
			{"lock:all", 3, false, 2 * time.Hour, inspect.FormatLockscope, "web-3/4711"},
			{"lock:split", 2, true, time.Hour, inspect.FormatLockscope, "web-3/4711"},
			{"lock:leak", 3, false, -1, inspect.FormatUnknown, ""},
			{"lock:redisson", 3, false, time.Minute, inspect.FormatRedisson, "8743c9c0…:42"},
			{"lock:minority", 1, false, 0, inspect.FormatLockscope, "web-3/4711"},
			{"lock:pair", 2, false, time.Hour, inspect.FormatLockscope, "web-3/4711"},
		} {
			got := listed(t, l, want.key)
			if got.Nodes != want.nodes || got.Of != 3 || got.Split != want.split || got.Hold.Format != want.format ||
				got.Hold.Instance != want.name {
				t.Errorf("%s: %+v", path, got)
			}
			if off := want.ttl - got.TTL; want.ttl <= 0 && off != 0 || off < 0 || off > 2*time.Minute {
				t.Errorf("%s: TTL of %s is %v, want %v", path, want.key, got.TTL, want.ttl)
			}
			if want.format == inspect.FormatLockscope && !got.Hold.Since.Equal(since) ||
				got.Resource != strings.TrimPrefix(want.key, "lock:") {
				t.Errorf("%s: %+v", path, got)
			}
		}
		if len(l.Locks) != 6 || l.Omitted != 0 || len(l.Nodes) != 3 || l.Nodes[0].Locks != 5 {
			t.Errorf("%s: listed %q, %+v", path, listedKeys(l), l.Nodes)
		}
		for _, secret := range []string{token, otherToken, redissonID, redsyncValue} {
			if text := fmt.Sprintf("%+v", l); strings.Contains(text, secret) {
				t.Errorf("the listing shows %s", secret)
			}
		}
	}
}

// TestListLimit has more locks than the limit, each on some of the nodes. It compares the result with a sort of all
// locks.
func TestListLimit(t *testing.T) {
	f := startNodes(t, 3)
	random := rand.New(rand.NewPCG(5, 6))
	var all []string
	pipes := []redis.Pipeliner{f.clients[0].Pipeline(), f.clients[1].Pipeline(), f.clients[2].Pipeline()}
	for i := range 3000 {
		key := fmt.Sprintf("lock:%06d", random.IntN(1e6))
		all = append(all, key)
		for _, at := range random.Perm(3)[:1+i%3] {
			pipes[at].Set(within(t), key, redsyncValue, time.Hour)
		}
	}
	for _, p := range pipes {
		_, err := p.Exec(within(t))
		must(t, err)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	s := newScanner(t, f.clients, scanner.WithPageSize(100))
	l := list(t, s, listing.Options{Order: listing.ByResource, Limit: 50})
	if !slices.Equal(listedKeys(l), all[:50]) || l.Omitted != int64(len(all)-50) {
		t.Errorf("listed %q and omitted %d of %d", listedKeys(l), l.Omitted, len(all))
	}
	slices.Reverse(all)
	l = list(t, s, listing.Options{Order: listing.ByResource, Reverse: true, Limit: 50})
	if !slices.Equal(listedKeys(l), all[:50]) {
		t.Errorf("reversed: listed %q", listedKeys(l))
	}
}

func TestListFilters(t *testing.T) {
	f := startNodes(t, 1)
	for _, key := range []string{"lock:order:1", "lock:order:2", "lock:user:1", "lock:a*b", "lock:bin\x00\xff"} {
		set(t, f.clients[0], key, redsyncValue, time.Hour)
	}
	for _, pattern := range []scanner.Option{scanner.WithPrefix("lock:"), scanner.WithPatterns("lo[c]k:*"),
		scanner.WithPatterns("*")} {
		s := newScanner(t, f.clients, pattern)
		for _, test := range []struct {
			o    listing.Options
			want int
		}{
			{listing.Options{Contains: "order"}, 2}, {listing.Options{Contains: "*"}, 1},
			{listing.Options{Contains: "\x00"}, 1},
			{listing.Options{Contains: "nothing"}, 0}, {listing.Options{Glob: "*r:1"}, 2},
			{listing.Options{Glob: "*r:*", Contains: "2"}, 1},
		} {
			if l := list(t, s, test.o); len(l.Locks) != test.want {
				t.Errorf("%+v lists %q", test.o, listedKeys(l))
			}
		}
	}
	s := newScanner(t, f.clients)
	for _, o := range []listing.Options{{Order: "name"}, {Limit: -1}} {
		if _, err := s.List(within(t), o); !errors.Is(err, scanner.ErrInvalidOption) {
			t.Errorf("%+v: %v, want ErrInvalidOption", o, err)
		}
	}
}

// TestListWithoutANode has one server down, one frozen, and three that answer.
func TestListWithoutANode(t *testing.T) {
	f := startNodes(t, 5)
	for _, c := range f.clients {
		set(t, c, "lock:x", redsyncValue, time.Hour)
	}
	for i := range 9 {
		set(t, f.clients[4], fmt.Sprint("lock:", i), redsyncValue, time.Hour)
	}
	must(t, f.servers[0].Kill())
	must(t, f.servers[1].Pause())
	s := newScanner(t, f.clients, scanner.WithPageSize(1))
	l, err := s.List(within(t), listing.Options{})
	for _, down := range f.servers[:2] {
		if text := fmt.Sprint(err); !strings.Contains(text, down.Addr()) {
			t.Errorf("error %v, want %s in it", err, down.Addr())
		}
	}
	if x := listed(t, l, "lock:x"); x.Nodes != 3 || x.Of != 3 || x.TTL <= 0 || !l.Truncated || len(l.Locks) != 10 {
		t.Errorf("listed %+v", l)
	}
	if l.Took > 25*time.Second { // the timeout is 5 s, and there are ten pages
		t.Errorf("took %v: each page waits for the frozen node", l.Took)
	}
	if l.Reading <= 0 || l.Reading > l.Took-time.Second {
		t.Errorf("%v of %v were spent reading: that of the frozen node was spent waiting", l.Reading, l.Took)
	}
	must(t, f.servers[1].Resume())

	ctx, cancel := context.WithCancel(within(t))
	cancel()
	if l, err := s.List(ctx, listing.Options{}); !errors.Is(err, context.Canceled) || !l.Truncated ||
		len(l.Nodes) != 5 {
		t.Errorf("with a dead context: %v, %+v", err, l)
	}
	must(t, s.Close())
	if _, err := s.List(within(t), listing.Options{}); !errors.Is(err, scanner.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestListWithoutScan has a first node that answers about keys but may not list them.
func TestListWithoutScan(t *testing.T) {
	f := startNodes(t, 3)
	rules := slices.DeleteFunc(scanner.ListACL(),
		func(rule string) bool { return rule == "+scan" || strings.Contains(rule, "eval") })
	clients := []redis.UniversalClient{aclClient(t, f.servers[0].Addr(), f.clients[0], rules), f.clients[1],
		f.clients[2]}
	set(t, f.clients[0], "lock:x", redsyncValue, time.Hour)
	set(t, f.clients[2], "lock:x", redsyncValue, time.Hour)
	l, err := newScanner(t, clients).List(within(t), listing.Options{})
	if x := listed(t, l, "lock:x"); x.Nodes != 2 || x.Of != 3 || !l.Truncated ||
		!strings.Contains(fmt.Sprint(err), "NOPERM") {
		t.Errorf("%v: %+v", err, l)
	}
}

// aclClient returns a client of a new user with only these rights, on keys below lock:.
func aclClient(t testing.TB, addr string, admin redis.UniversalClient, rules []string) *redis.Client {
	t.Helper()
	const name = "scanner"
	args := []any{"acl", "setuser", name, "reset", "on", ">acl-secret", "~lock:*"}
	for _, rule := range rules {
		args = append(args, rule)
	}
	must(t, admin.Do(within(t), args...).Err())
	c := redis.NewClient(&redis.Options{Addr: addr, Username: name, Password: "acl-secret"})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestListDeadline(t *testing.T) {
	f := startNodes(t, 1)
	p := f.clients[0].Pipeline()
	for i := range 1000 {
		p.Set(within(t), fmt.Sprint("lock:", i), redsyncValue, time.Hour)
	}
	_, err := p.Exec(within(t))
	must(t, err)
	s := newScanner(t, f.clients, scanner.WithPageSize(10), scanner.WithPause(100*time.Millisecond),
		scanner.WithDeadline(time.Second))
	l, err := s.List(within(t), listing.Options{})
	if err != nil || !l.Truncated || l.Nodes[0].Err != nil || len(l.Locks) == 0 || len(l.Locks) == 1000 {
		t.Errorf("%v, %d locks, truncated %v", err, len(l.Locks), l.Truncated)
	}
}

// TestListCluster has a cluster as one of two nodes. Its locks are on three masters.
func TestListCluster(t *testing.T) {
	cluster := clusterClient(t, locktest.Cluster(t, 3))
	single := startNodes(t, 1)
	for i := range 100 {
		set(t, cluster, fmt.Sprint("lock:", i), redsyncValue, time.Hour)
		set(t, single.clients[0], fmt.Sprint("lock:", i), redsyncValue, time.Hour)
	}
	for _, clients := range [][]redis.UniversalClient{{cluster, single.clients[0]}, {single.clients[0], cluster}} {
		for _, path := range paths() {
			l := list(t, newScanner(t, clients, scanner.UsePath(path)), listing.Options{})
			if len(l.Locks) != 100 || l.Omitted != 0 || len(l.Nodes) != 4 {
				t.Errorf("%s: %d locks, %d omitted, nodes %+v", path, len(l.Locks), l.Omitted, l.Nodes)
			}
			for _, lock := range l.Locks {
				if lock.Nodes != 2 || lock.Of != 2 || lock.Split {
					t.Fatalf("%s: %+v", path, lock)
				}
			}
		}
	}
}

// TestWholeRecords: of a value longer than those of other libraries, and of more readers than they have fields.
func TestWholeRecords(t *testing.T) {
	f := startNodes(t, 3)
	page := "http://" + strings.Repeat("orders.", 20) + "local:9090/debug/locks"
	since := time.Now().Add(-time.Minute)
	long := lockscopeValue(token, since) + "|" + strings.Repeat("caller/", 9) + "a.go:1|" + page + "|semaphore:12|nightly"
	for _, c := range f.clients {
		set(t, c, "lock:exports#3", long, time.Hour)
		set(t, c, "lock:leader", lockscopeValue(token, since.Add(-2*time.Hour))+"||"+page+"|election", time.Hour)
		for i := range 40 {
			must(t, c.HSet(within(t), "lock:prices", tokenOf(fmt.Sprint("r", i)), fmt.Sprintf("%d:7|pod-%d/1|%d||a.%d|||read",
				time.Now().Add(time.Minute).UnixMilli(), i, since.UnixMilli()+int64(i), i)).Err())
		}
		must(t, c.PExpire(within(t), "lock:prices", time.Minute).Err())
	}
	for _, path := range paths() {
		all := list(t, newScanner(t, f.clients, scanner.UsePath(path)), listing.Options{})
		if l := listed(t, all, "lock:exports#3"); l.Hold.Page != page || l.Hold.Kind != lock.KindSemaphore ||
			l.Hold.Slots != 12 || l.Hold.Reason != "nightly" || l.Nodes != 3 {
			t.Errorf("%s: %+v", path, l)
		}
		if l := listed(t, all, "lock:prices"); l.Readers == nil || l.Readers.Count != 40 || len(l.Readers.First) != 16 ||
			l.Hold.Instance != "pod-0/1" || l.Nodes != 3 {
			t.Errorf("%s: %+v, %+v", path, l, l.Readers)
		}
		wantFindings(t, "a term has no limit", sweep(t, newScanner(t, f.clients, scanner.UsePath(path))).Findings)
	}
}
