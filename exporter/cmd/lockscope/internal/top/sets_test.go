package top

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestTwoClusters of a configuration file, which have a lock of the same name.
func TestTwoClusters(t *testing.T) {
	eu, us := locktest.Servers(t, 3), locktest.Servers(t, 1)
	config := cmdtest.ConfigFile(t, `
groups:
  - {name: eu, redlock: true, redis: [`+cmdtest.Addrs(eu...)+`]}
  - {name: us, redis: [`+cmdtest.Addrs(us...)+`]}
`)
	for _, servers := range [][]*redisproc.Server{eu, us} {
		s := newServices(t, servers)
		p := s.process("orders-" + servers[0].Addr())
		s.hold(p, "order:1001")
		s.wait(s.process("truck-3"), "order:1001", nil)
	}
	cmdtest.Must(t, eu[2].Kill())
	var o cmdtest.Outcome
	cmdtest.Eventually(t, "both have a waiter", func() bool {
		o = command(t, "top", "--once", "--config", config)
		return strings.Contains(o.Out, "2 calls wait for 2 locks")
	})
	t.Log("\n" + o.Out)
	o.Want(t, ui.ExitError, "eu: 2 of 3 nodes vote, 2 needed", "us: up", "SET", "orders-"+us[0].Addr(),
		"connection refused")
	command(t, "top", "--once", "--config", config, "--redis", "r1").Want(t, ui.ExitError, "use one")
}

// TestGroupsOfOtherSystems of a configuration file, two of one kind.
func TestGroupsOfOtherSystems(t *testing.T) {
	t.Parallel()
	_, eu := cmdtest.Etcd(t, 1)
	_, us := cmdtest.Etcd(t, 1)
	cmdtest.Hold(t, cmdtest.EtcdLocker(t, us, "etcd-1"), "order:etcd")
	cmdtest.Queue(t, cmdtest.EtcdLocker(t, us, "etcd-2"), t.Context(), "order:etcd")
	config := cmdtest.ConfigFile(t, "groups: [{name: eu, etcd: ['"+eu.Endpoints()[0]+"']}, {name: us, etcd: ['"+
		us.Endpoints()[0]+"']}]")
	var o cmdtest.Outcome
	cmdtest.Eventually(t, "the waiter is there", func() bool {
		o = command(t, "top", "--once", "--config", config)
		return strings.Contains(o.Out, "1 call waits for 1 lock")
	})
	o.Want(t, ui.ExitClean, "eu: up", "us: up", "us", "etcd-1")
	command(t, "top", "--once", "--config", cmdtest.ConfigFile(t, "groups: [{name: a, etcd: [h]}]")).Want(t, ui.ExitError,
		":1: groups[0]: etcd endpoint 1")
}

// TestBesideOtherSystems reads PostgreSQL and etcd in the same frame, and what a chain in PostgreSQL is.
func TestBesideOtherSystems(t *testing.T) {
	server := locktest.Servers(t, 1)[0]
	s := newServices(t, []*redisproc.Server{server})
	s.hold(s.process("orders-1"), "order:1001")
	s.wait(s.process("truck-3"), "order:1001", nil)
	pg := cmdtest.Postgres(t)
	_, client := cmdtest.Etcd(t, 1)
	first, second := cmdtest.PostgresLocker(t, pg, "pg-1"), cmdtest.PostgresLocker(t, pg, "pg-2")
	cmdtest.Hold(t, second, "stock:pg")
	held := cmdtest.Hold(t, first, "order:pg")
	cmdtest.Queue(t, first, held.Context(), "stock:pg")
	cmdtest.Queue(t, second, t.Context(), "order:pg")
	cmdtest.Hold(t, cmdtest.EtcdLocker(t, client, "etcd-1"), "order:etcd")
	cmdtest.Queue(t, cmdtest.EtcdLocker(t, client, "etcd-2"), t.Context(), "order:etcd")
	args := []string{"top", "--once", "--redis", server.Addr(), "--postgres", pg.URL("service"), "--etcd",
		strings.Join(client.Endpoints(), ",")}
	var o cmdtest.Outcome
	cmdtest.Eventually(t, "all waiters are there", func() bool {
		o = command(t, args...)
		return strings.Contains(o.Out, "4 calls wait for 4 locks") &&
			strings.Contains(o.Out, "for stock:pg, held by pg-2")
	})
	t.Log("\n" + o.Out)
	o.Want(t, ui.ExitClean, "postgresql: up", "etcd: up", "redis: up", "order:etcd", "etcd-1")

	o = command(t, "top", "--once", "--postgres", "postgres://service@127.0.0.1:1/x", "--redis", server.Addr())
	o.Want(t, ui.ExitError, "DOWN in postgresql", "order:1001")
}

// TestADeadlockIsSaidFirst in one frame, with who is in it.
func TestADeadlockIsSaidFirst(t *testing.T) {
	servers := locktest.Servers(t, 3)
	s := newServices(t, servers)
	orders, stock := s.process("orders-1"), s.process("stock-2")
	order, goods := s.hold(orders, "order:1001"), s.hold(stock, "stock:7")
	s.wait(orders, "stock:7", order)
	s.wait(stock, "order:1001", goods)
	var o cmdtest.Outcome
	cmdtest.Eventually(t, "the deadlock", func() bool {
		o = command(t, "top", "--once", "--redis", cmdtest.Addrs(servers...))
		return strings.Contains(o.Out, "DEADLOCK in redis")
	})
	o.Want(t, ui.ExitClean, "DEADLOCK stock:7", "DEADLOCK in redis: orders-1 holds order:1001 "+
		"and waits for stock:7; stock-2 holds stock:7 and waits for order:1001")
	t.Log("\n" + o.Out)
}

// TestARedisCluster shows its masters, and finds queues on any of them.
func TestARedisCluster(t *testing.T) {
	c, err := redisproc.StartCluster(t.Context(), 3)
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, c.Stop()) })
	addr := c.Addrs()[0]
	admin := clusterClient(t, addr)
	for _, name := range []string{"order:1", "order:2", "order:3", "order:4"} {
		plantQueue(t, admin, "lock:"+name)
	}
	o := command(t, "top", "--once", "--cluster", "--redis", addr)
	t.Log("\n" + o.Out)
	o.WantNot(t, "grant")
	o.Want(t, ui.ExitClean, "redis: 3 of 3 masters up", "order:1", "order:4", "4 calls wait for 4 locks")
}

// TestFlagsAreChecked before anything is asked.
func TestFlagsAreChecked(t *testing.T) {
	for _, c := range []struct{ flag, value, says string }{
		{"--order", "age", "unknown order"}, {"--refresh", "10ms", "--refresh"}, {"--node-timeout", "0s", "not positive"},
		{"--pages", "a/b", "--pages"}, {"--page", "r1:6379", "--page"}, {"--prefix", "", "prefix"},
	} {
		command(t, "top", "--redis", "r1:6379", c.flag, c.value).Want(t, ui.ExitError, c.says)
	}
	command(t, "top").Want(t, ui.ExitError, "no Redis server given")
}
