package bench

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/app"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock"
)

// fleet is some nodes that vote.
func fleet(t *testing.T, n int) []*redisproc.Server {
	t.Helper()
	servers := locktest.Servers(t, n)
	cmdtest.VouchFor(t, servers...)
	return servers
}

// args is a short bench that a busy machine does not spoil.
func args(servers []*redisproc.Server, more ...string) []string {
	return append([]string{"bench", "--redis", cmdtest.Addrs(servers...), "--for", "1s", "--node-timeout", "2s"},
		more...)
}

// wantClean checks that the bench left nothing but fence counters, and tombs of acquires that its callers gave up.
func wantClean(t *testing.T, servers ...*redisproc.Server) {
	t.Helper()
	for _, s := range servers {
		for _, key := range cmdtest.Admin(t, s).Keys(t.Context(), "*").Val() {
			if key != redlock.MarkerKey && !strings.HasPrefix(key, "lockscope:fence:") &&
				!strings.HasPrefix(key, "lockscope:tomb:") {
				t.Errorf("%s is left on %s", key, s.Addr())
			}
		}
	}
}

// TestBench measures pairs, hand-offs and a hung node, and leaves nothing behind.
func TestBench(t *testing.T) {
	t.Parallel()
	servers := fleet(t, 3)
	var d document
	o := lockscope.Command(t, args(servers, "--callers", "1,3", "-o", "json")...)
	o.Want(t, app.ExitClean)
	o.Decode(t, &d)
	var got []string
	for _, m := range d.Measurements {
		if m.HungNode == "" && m.Calls == 0 || m.P50 > m.P99 || m.P99 > m.Longest || m.Failed > 0 {
			t.Errorf("%+v", m)
		}
		got = append(got, m.Kind)
		if m.HungNode != "" && m.HungNode != servers[2].Addr() {
			t.Errorf("%s hung", m.HungNode)
		}
	}
	if text := strings.Join(got, " "); text != "pair pair hand-off pair hand-off" || d.Quorum != 2 ||
		d.Proposal == nil || d.Proposal.TTL < 10 {
		t.Errorf("%+v", d)
	}
	wantClean(t, servers...)
}

// TestBenchTable: with one node there is no measurement of a node that hangs.
func TestBenchTable(t *testing.T) {
	t.Parallel()
	servers := fleet(t, 1)
	o := lockscope.Command(t, args(servers, "--callers", "2")...)
	o.Want(t, app.ExitClean, "PER SECOND", "hand-off", "proposed: TTL ", "no node was made to hang")
	wantClean(t, servers...)
}

// TestBenchRefusesWaiters: other callers wait for a lock. It measures only if it is asked to, and leaves their keys
// alone.
func TestBenchRefusesWaiters(t *testing.T) {
	t.Parallel()
	servers := fleet(t, 3)
	holder := cmdtest.LockingProcess(t, "holder-1", servers)
	lease, err := holder.Acquire(t.Context(), "order:1", lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	waiting, giveUp := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = cmdtest.LockingProcess(t, "waiter-2", servers).Acquire(waiting, "order:1")
	}()
	defer func() { giveUp(); <-ended }()
	cmdtest.Eventually(t, "it waits", func() bool {
		queued := 0
		for _, s := range servers {
			queued += int(cmdtest.Admin(t, s).ZCard(t.Context(), "lockscope:queue:{lock:order:1}").Val())
		}
		return queued > 0
	})
	lockscope.Command(t, args(servers, "--callers", "2")...).Want(t, app.ExitError, "1 lock with waiters",
		"order:1", "--despite-waiters")
	lockscope.Command(t, args(servers, "--callers", "2", "--despite-waiters")...).Want(t, app.ExitClean, "hand-off")
	cmdtest.Must(t, lease.Extend(t.Context()))
}

// TestBenchNeedsFitNodes names each node that does not vote, and why, and measures nothing.
func TestBenchNeedsFitNodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, s *redisproc.Server)
		says  string
	}{
		"dead": {func(t *testing.T, s *redisproc.Server) { cmdtest.Must(t, s.Kill()) }, "refused"},
		"quarantined": {func(t *testing.T, s *redisproc.Server) {
			cmdtest.Must(t, s.Kill())
			cmdtest.Must(t, s.Restart(t.Context()))
		}, "may not vote yet"},
		"read-only": {func(t *testing.T, s *redisproc.Server) {
			cmdtest.Must(t, cmdtest.Admin(t, s).ReplicaOf(t.Context(), "127.0.0.1", "1").Err())
		}, "replica"},
	} {
		t.Run(name, func(t *testing.T) {
			servers := fleet(t, 3)
			c.spoil(t, servers[1])
			o := lockscope.Command(t, args(servers)...)
			o.Want(t, app.ExitError, servers[1].Addr()+" does not vote", c.says, "lockscope doctor")
			o.WantNot(t, "PER SECOND", servers[0].Addr()+" does")
			wantClean(t, servers[0], servers[2])
		})
	}
}

// TestBenchOneAtATime: a second bench would spoil the figures of the first.
func TestBenchOneAtATime(t *testing.T) {
	t.Parallel()
	servers := fleet(t, 1)
	other, err := redlock.Open([]string{"redis://" + servers[0].Addr()}, lock.WithPrefix(defaultPrefix),
		lock.WithInstance("bench-of-ada"))
	cmdtest.Must(t, err)
	defer func() { cmdtest.Must(t, other.Close()) }()
	_, err = other.Acquire(t.Context(), running)
	cmdtest.Must(t, err)
	lockscope.Command(t, args(servers)...).Want(t, app.ExitError, "another bench", "bench-of-ada")
}

// TestBenchInterrupted gives back all locks before it ends.
func TestBenchInterrupted(t *testing.T) {
	t.Parallel()
	servers := fleet(t, 3)
	node := cmdtest.Admin(t, servers[0])
	r := cmdtest.Start(t, args(servers, "--for", "1m", "--callers", "8")...)
	cmdtest.Eventually(t, "it measures", func() bool {
		return node.Exists(t.Context(), defaultPrefix+own(3)).Val() == 1
	})
	cmdtest.Must(t, r.Signal(syscall.SIGINT))
	r.Wait().Want(t, app.ExitError, app.ErrInterrupted.Error())
	wantClean(t, servers...)
}

// TestBenchLosesNodes: without a quorum it stops, shows what it has, and leaves nothing on the node that is left.
func TestBenchLosesNodes(t *testing.T) {
	t.Parallel()
	servers := fleet(t, 3)
	node := cmdtest.Admin(t, servers[0])
	r := cmdtest.Start(t, args(servers, "--for", "2s", "--callers", "8")...)
	cmdtest.Eventually(t, "it measures", func() bool {
		return node.Exists(t.Context(), defaultPrefix+own(3)).Val() == 1
	})
	cmdtest.Must(t, servers[1].Kill())
	cmdtest.Must(t, servers[2].Kill())
	r.Wait().Want(t, app.ExitError, "no call succeeded", "no quorum", "pair ")
	wantClean(t, servers[0])
}

// TestBenchWaitsForItsKeys: a key that a node has at the end is waited for while it can still expire in time, and then
// reported.
func TestBenchWaitsForItsKeys(t *testing.T) {
	t.Parallel()
	servers := fleet(t, 1)
	node := cmdtest.Admin(t, servers[0])
	key := defaultPrefix + own(hungCallers-1) // no caller of this bench uses it
	cmdtest.Must(t, node.Set(t.Context(), key, "late", 5*time.Second).Err())
	once := []string{"--callers", "1", "--ttl", "2s", "--node-timeout", "500ms"}
	lockscope.Command(t, args(servers, once...)...).Want(t, app.ExitClean, "proposed: TTL ")
	wantClean(t, servers...)
	cmdtest.Must(t, node.Set(t.Context(), key, "late", time.Minute).Err())
	lockscope.Command(t, args(servers, once...)...).Want(t, app.ExitError, servers[0].Addr()+": 1 key of the bench left")
}

// TestBenchFlags refuses what would load the servers for longer, or touch real locks.
func TestBenchFlags(t *testing.T) {
	for flag, values := range map[string][]string{
		"--callers": {"0", "257", "1,2,3,4,5,6"}, "--for": {"1ms", "2m"}, "--prefix": {"", "lock:"},
		"--node-timeout": {"-1s"},
	} {
		for _, value := range values {
			lockscope.Command(t, "bench", "--redis", "127.0.0.1:1", flag, value).Want(t, app.ExitError, flag)
		}
	}
}
