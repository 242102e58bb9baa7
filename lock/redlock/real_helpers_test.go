package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/engine"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

const (
	// nodeTimeout is many times the default, to tell a silent node from a busy machine. Calls that must not wait for a
	// silent node are measured against it, too.
	nodeTimeout = time.Second
	// patience is the node timeout of tests in which every node answers, so that none is given up on a busy machine.
	patience = 10 * time.Second
	// soon is longer than any work here takes on a busy machine. It is shorter than a wait for a hung node:
	// hungTimeout, or the five seconds after which go-redis gives up a read.
	soon = 4 * time.Second
	// hungTimeout is the node timeout of tests in which nodes hang and no caller may wait for them.
	hungTimeout = soon + time.Second
	// longTTL is much longer than settleTime: a lock that is gone by then did not expire.
	longTTL    = time.Minute
	settleTime = 15 * time.Second
	// waitTime bounds a test that would wait forever.
	waitTime = 30 * time.Second
)

// realNodes are redis-server processes, each with a client to inspect it without the library.
type realNodes struct {
	t       testing.TB
	servers []*redisproc.Server
	admin   []*redis.Client
}

func startNodes(t testing.TB, n int, opts ...redisproc.Option) *realNodes {
	t.Helper()
	f := &realNodes{t: t, servers: locktest.Servers(t, n, opts...)}
	for _, s := range f.servers {
		f.admin = append(f.admin, plainClient(t, &redis.Options{Addr: s.Addr()}))
	}
	return f
}

// appendOnly makes servers keep everything they acknowledged, even over a SIGKILL.
func appendOnly() redisproc.Option {
	return redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always")
}

func plainClient(t testing.TB, opt *redis.Options) *redis.Client {
	c := redis.NewClient(opt)
	t.Cleanup(func() { _ = c.Close() }) // some tests close it earlier
	return c
}

func proxyTo(t testing.TB, s *redisproc.Server) *netfault.Proxy {
	t.Helper()
	p, err := netfault.Listen(s.Addr())
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	return p
}

// clients makes one client a node, as a caller of New would.
func (f *realNodes) clients() []redis.UniversalClient {
	var all []redis.UniversalClient
	for _, s := range f.servers {
		all = append(all, plainClient(f.t, &redis.Options{Addr: s.Addr()}))
	}
	return all
}

// through returns clients with the i-th node behind a proxy.
func (f *realNodes) through(p *netfault.Proxy, i int) []redis.UniversalClient {
	all := f.clients()
	all[i] = plainClient(f.t, &redis.Options{Addr: p.Addr()})
	return all
}

// named gives the nodes their servers' names, also behind a proxy, because the names identify a set of nodes.
func (f *realNodes) named() lock.Option {
	var names []string
	for _, s := range f.servers {
		names = append(names, s.Addr())
	}
	return lock.WithNodeNames(names...)
}

// locker returns a Redlock with its own connections to all nodes.
func (f *realNodes) locker(opts ...lock.Option) *engine.Engine {
	f.t.Helper()
	return newLocker(f.t, f.clients(), opts...)
}

// newLocker makes freshly started nodes vote. Tests of the quarantine turn that off.
func newLocker(t testing.TB, clients []redis.UniversalClient, opts ...lock.Option) *engine.Engine {
	t.Helper()
	base := []lock.Option{lock.WithNodeTimeout(nodeTimeout), redlock.WithRestartQuarantine(0)}
	r, err := redlock.New(clients, append(base, opts...)...)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	return r
}

// warm makes the locker's connections to every node, so that a fault meets open ones. It leaves nothing on the nodes.
func (f *realNodes) warm(l lock.Locker) {
	f.t.Helper()
	must(f.t, acquire(f.t, l, "warm-up", lock.TTL(longTTL)).Release(f.t.Context()))
	f.wantNoLocks()
}

func (f *realNodes) pause(nodes ...int)  { f.each(nodes, (*redisproc.Server).Pause) }
func (f *realNodes) resume(nodes ...int) { f.each(nodes, (*redisproc.Server).Resume) }
func (f *realNodes) kill(nodes ...int)   { f.each(nodes, (*redisproc.Server).Kill) }
func (f *realNodes) wipe(nodes ...int)   { f.each(nodes, (*redisproc.Server).Wipe) }
func (f *realNodes) restart(nodes ...int) {
	f.t.Helper()
	f.each(nodes, func(s *redisproc.Server) error { return s.Restart(f.t.Context()) })
}

func (f *realNodes) each(nodes []int, do func(*redisproc.Server) error) {
	f.t.Helper()
	for _, i := range nodes {
		must(f.t, do(f.servers[i]))
	}
}

// config sets a configuration value on the given nodes.
func (f *realNodes) config(name, value string, nodes ...int) {
	f.t.Helper()
	for _, i := range nodes {
		must(f.t, f.admin[i].ConfigSet(f.t.Context(), name, value).Err())
	}
}

// keys lists the keys of all given nodes as "node key pttl".
func (f *realNodes) keys(pattern string, nodes ...int) []string {
	f.t.Helper()
	var found []string
	for _, i := range nodes {
		keys, err := f.admin[i].Keys(f.t.Context(), pattern).Result()
		if err != nil {
			found = append(found, fmt.Sprintf("node %d: %v", i, err))
		}
		for _, key := range keys {
			found = append(found, fmt.Sprintf("node %d: %s (%v)", i, key, f.admin[i].PTTL(f.t.Context(), key).Val()))
		}
	}
	return found
}

func (f *realNodes) all() []int {
	var all []int
	for i := range f.servers {
		all = append(all, i)
	}
	return all
}

// wantNoLocks waits up to settleTime until the given nodes, or all, have no lock key, and checks that none comes back.
// It returns since when there was none.
func (f *realNodes) wantNoLocks(nodes ...int) (clean time.Time) {
	f.t.Helper()
	if len(nodes) == 0 {
		nodes = f.all()
	}
	return f.wantNone("lock:*", nodes, func(string) bool { return true })
}

// wantOnlyFences waits until the nodes hold nothing but fence counters.
func (f *realNodes) wantOnlyFences() {
	f.t.Helper()
	f.wantNone("*", f.all(), func(key string) bool { return !strings.Contains(key, ": lockscope:fence:{") })
}

func (f *realNodes) wantNone(pattern string, nodes []int, counts func(string) bool) (clean time.Time) {
	f.t.Helper()
	deadline := time.Now().Add(settleTime)
	for {
		left := slices.DeleteFunc(f.keys(pattern, nodes...), func(key string) bool { return !counts(key) })
		switch {
		case len(left) > 0:
			clean = time.Time{}
		case clean.IsZero():
			clean = time.Now()
		case time.Since(clean) > nodeTimeout: // too late for a late request
			return clean
		}
		if len(left) > 0 && time.Now().After(deadline) {
			f.t.Errorf("%d keys left after %v:\n%s", len(left), settleTime,
				strings.Join(left[:min(len(left), 10)], "\n"))
			return time.Now()
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// queued returns how many waiters the nodes have, on whichever node they queue.
func (f *realNodes) queued(resource string, nodes ...int) (n int) {
	if len(nodes) == 0 {
		nodes = f.all()
	}
	for _, i := range nodes {
		n += int(f.admin[i].ZCard(f.t.Context(), "lockscope:queue:{lock:"+resource+"}").Val())
	}
	return n
}

func acquire(t testing.TB, l lock.Locker, resource string, opts ...lock.AcquireOption) lock.Lease {
	t.Helper()
	opts = append([]lock.AcquireOption{lock.MaxWait(waitTime)}, opts...)
	lease, err := l.Acquire(t.Context(), resource, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantErr requires an error that matches every target.
func wantErr(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Errorf("error is %v; want one that matches %q", err, target)
		}
	}
}

func wantText(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error is %v; want one that says %q", err, part)
		}
	}
}

func eventually(t testing.TB, bound time.Duration, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(bound)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", bound, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func wantWithin(t testing.TB, what string, took, bound time.Duration) {
	t.Helper()
	if took > bound {
		t.Errorf("%s took %v, want at most %v", what, took, bound)
	}
}

// grant is the result of an Acquire in the background.
type grant struct {
	lease lock.Lease
	err   error
	at    time.Time
}

func acquireAsync(ctx context.Context, l lock.Locker, resource string, opts ...lock.AcquireOption) <-chan grant {
	done := make(chan grant, 1)
	go func() {
		lease, err := l.Acquire(ctx, resource, opts...)
		done <- grant{lease, err, time.Now()}
	}()
	return done
}

func await[T any](t testing.TB, bound time.Duration, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(bound):
		t.Fatalf("not within %v: %s", bound, what)
	}
	return v
}

// statsOf returns how often the given commands were called, from INFO commandstats.
func statsOf(info string, commands ...string) (calls string) {
	for line := range strings.Lines(info) {
		for _, c := range commands {
			if rest, ok := strings.CutPrefix(line, "cmdstat_"+c+":calls="); ok {
				n, _, _ := strings.Cut(rest, ",")
				calls += c + "=" + n + " "
			}
		}
	}
	return calls
}

func containsText(err error, part string) bool { return strings.Contains(err.Error(), part) }

func portOf(f *realNodes, i int) string { return strconv.Itoa(f.servers[i].Port()) }
