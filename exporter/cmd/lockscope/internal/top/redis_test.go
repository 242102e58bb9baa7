package top

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/fleet"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/top/screen"
	"github.com/lockscope/lockscope/exporter/live/state"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// open reads one set of these.
func open(t *testing.T, timeout time.Duration, started ...*redisproc.Server) *Source {
	t.Helper()
	return sourceOf(t, timeout, map[string]string{"redis": cmdtest.Addrs(started...)})
}

// sourceOf reads sets of nodes, by name.
func sourceOf(t *testing.T, timeout time.Duration, sets map[string]string) *Source {
	t.Helper()
	o := &opening{timeout: timeout}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		nodes, err := servers.RedisConfig{URLs: strings.Split(sets[name], ",")}.Open()
		cmdtest.Must(t, err)
		cmdtest.Must(t, o.redis(name, nodes, []string{"lock:*"}))
	}
	s, err := o.source(nil, fleet.Policy{})
	cmdtest.Must(t, err)
	t.Cleanup(s.Close)
	return s
}

// TestTheSearchGoesOn from one refresh to the next, and finds at once what pages name.
func TestTheSearchGoesOn(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	admin := cmdtest.Admin(t, server)
	plant(t, admin, 100_000)
	const contended = 40
	var names []string
	for i := range contended {
		names = append(names, fmt.Sprintf("order:%d", i))
		plantQueue(t, admin, "lock:"+names[i])
	}
	first := func(suggested []string) (*Source, *screen.Set) {
		s := open(t, time.Second, server)
		s.systems[0].suggest(suggested)
		snap := s.Read(t.Context())
		return s, &snap.Sets[0]
	}
	s, set := first(nil)
	if set.Scan.Whole() || set.Scan.Done <= 0 || set.Scan.Done > 0.5 || set.Scan.Keys < 100_000 ||
		len(set.Resources) >= contended {
		t.Fatalf("after one refresh: %d resources, %+v", len(set.Resources), set.Scan)
	}
	for range 100 {
		if snap := s.Read(t.Context()); snap.Sets[0].Scan.Whole() {
			set = &snap.Sets[0]
			break
		}
	}
	if !set.Scan.Whole() || set.Scan.Done != 1 || len(set.Resources) != contended {
		t.Errorf("after a pass: %d resources, %+v", len(set.Resources), set.Scan)
	}
	if _, set := first(names); len(set.Resources) != contended {
		t.Errorf("%d of %d queues that pages named were found", len(set.Resources), contended)
	}
}

// TestAHungNodeIsWaitedForOnce, and is known as down from then on; it comes back by itself.
func TestAHungNodeIsWaitedForOnce(t *testing.T) {
	servers := locktest.Servers(t, 5)
	cmdtest.VouchFor(t, servers...)
	s := open(t, 500*time.Millisecond, servers...)
	if snap := s.Read(t.Context()); snap.Sets[0].Count(state.NodeUp) != 5 {
		t.Fatalf("%+v", snap.Sets[0].Nodes)
	}
	cmdtest.Must(t, servers[1].Pause())
	cmdtest.Must(t, servers[3].Kill())
	read := func() *screen.Set { return &new(s.Read(t.Context())).Sets[0] }
	cmdtest.Eventually(t, "both are down", func() bool {
		return read().Count(state.NodeDown) == 2
	})
	for range 3 {
		began := time.Now()
		set := read()
		if took := time.Since(began); took > 400*time.Millisecond || set.Count(state.NodeUp) != 3 || set.Read.Before(began) {
			t.Errorf("a refresh took %v beside a hung node: %+v", took, set.Nodes)
		}
	}
	cmdtest.Must(t, servers[1].Resume())
	cmdtest.Eventually(t, "it is up again", func() bool { return read().Count(state.NodeUp) == 4 })
}

// TestStatesOfRealNodes: a wiped one, a replica, and one that evicts.
func TestStatesOfRealNodes(t *testing.T) {
	servers := locktest.Servers(t, 5)
	cmdtest.VouchFor(t, servers...)
	cmdtest.Must(t, cmdtest.Admin(t, servers[1]).FlushAll(t.Context()).Err())
	host, port, _ := strings.Cut(servers[0].Addr(), ":")
	cmdtest.Must(t, cmdtest.Admin(t, servers[2]).SlaveOf(t.Context(), host, port).Err())
	evicts := cmdtest.Admin(t, servers[3])
	cmdtest.Must(t, evicts.ConfigSet(t.Context(), "maxmemory", "100mb").Err())
	cmdtest.Must(t, evicts.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	s := open(t, time.Second, servers...)
	snap := s.Read(t.Context())
	var got []string
	for _, n := range snap.Sets[0].Nodes {
		got = append(got, n.State)
	}
	if want := "up quarantined barred barred up"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
	if all := snap.Troubles(); len(all) != 1 || !strings.HasPrefix(all[0], "NO QUORUM in redis: 2 of 5 nodes vote") {
		t.Errorf("%q", all)
	}
}

// TestWithoutRights says what to grant, and shows the rest.
func TestWithoutRights(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	admin := cmdtest.Admin(t, server)
	plantQueue(t, admin, "lock:order")
	cmdtest.Must(t, admin.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">pw", "%R~lock:*", "+ping", "+scan",
		"+getrange", "+pttl").Err())
	s := sourceOf(t, time.Second, map[string]string{"redis": "redis://reader:pw@" + server.Addr()})
	set := s.Read(t.Context()).Sets[0]
	if !strings.Contains(set.Err, "+zrange") || strings.Contains(set.Err, "\n") {
		t.Errorf("waiters: %q", set.Err)
	}
	if n := set.Nodes[0]; n.State != state.NodeUp || !strings.Contains(n.Why, "grant +info") {
		t.Errorf("%+v", n)
	}
}

// TestTwoSets of which one is away: the other one is as fresh as ever.
func TestTwoSets(t *testing.T) {
	started := locktest.Servers(t, 2)
	plantQueue(t, cmdtest.Admin(t, started[0]), "lock:order")
	cmdtest.Must(t, started[1].Pause())
	s := sourceOf(t, 5*time.Second, map[string]string{"hung": started[1].Addr(), "redis": started[0].Addr()})
	began := time.Now()
	snap := s.Read(t.Context())
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("took %v", took)
	}
	if hung := &snap.Sets[0]; !hung.Read.IsZero() || hung.Count(state.NodeDown) != 1 {
		t.Errorf("%+v", hung)
	}
	if set := &snap.Sets[1]; len(set.Resources) != 1 || set.Read.Before(began) {
		t.Errorf("%+v", set)
	}
	if _, err := (&opening{beside: []system{&instant{}, &instant{}}}).source(nil, fleet.Policy{}); err == nil {
		t.Error("two sets have one name")
	}
}

// TestReadEndsWithItsContext although a node hangs.
func TestReadEndsWithItsContext(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	cmdtest.Must(t, server.Pause())
	s := open(t, time.Minute, server)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if snap := s.Read(ctx); snap.Sets[0].Count(state.NodeDown) != 1 {
		t.Errorf("%+v", snap.Sets[0])
	}
}

// plant makes n locks that are fine.
func plant(t testing.TB, c *redis.Client, n int) {
	t.Helper()
	pipe := c.Pipeline()
	for i := range n {
		pipe.Set(t.Context(), fmt.Sprintf("lock:%d", i), "v", time.Hour)
	}
	_, err := pipe.Exec(t.Context())
	cmdtest.Must(t, err)
}
