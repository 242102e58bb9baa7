package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
)

// midway are systems that hang in the middle of a look, by the flag that names them.
func midway(t *testing.T) map[string]func() (proxy *netfault.Proxy, args []string) {
	_, client := cmdtest.Etcd(t, 1)
	const keys, atOnce = 20_000, 100 // twenty pages
	for i := 0; i < keys; i += atOnce {
		var puts []clientv3.Op
		for n := i; n < i+atOnce; n++ {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("lock:%d", n), ""))
		}
		_, err := client.Txn(t.Context()).Then(puts...).Commit()
		cmdtest.Must(t, err)
	}
	e := cmdtest.ZooKeeper(t, 1)
	conn := cmdtest.ZooKeeperConn(t, e)
	dirs := []any{&zk.CreateRequest{Path: "/locks", Acl: zk.WorldACL(zk.PermAll)}}
	for i := range 1000 {
		dirs = append(dirs, &zk.CreateRequest{Path: fmt.Sprintf("/locks/%d", i), Acl: zk.WorldACL(zk.PermAll)})
	}
	_, err := conn.Multi(dirs...)
	cmdtest.Must(t, err)
	return map[string]func() (*netfault.Proxy, []string){
		"etcd": func() (*netfault.Proxy, []string) {
			p := cmdtest.Silent(t, strings.TrimPrefix(client.Endpoints()[0], "http://"))
			return p, []string{"scan", "--etcd", p.Addr()}
		},
		"zookeeper": func() (*netfault.Proxy, []string) {
			p := cmdtest.Silent(t, e.Addrs()[0])
			return p, []string{"scan", "--zookeeper", p.Addr()}
		},
	}
}

// TestScanHangsMidway: a server that stops answering in the middle of a look is reported before the deadline of the
// sweep, and Ctrl-C does not wait for it.
func TestScanHangsMidway(t *testing.T) {
	t.Parallel()
	for name, hang := range midway(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy, args := hang()
			p := cmdtest.Start(t, args...)
			cmdtest.Midway(t, proxy, 8)
			p.Wait().Want(t, ui.ExitError, name, proxy.Addr(), "not read", "node_failed", "check that")
		})
		t.Run(name+" interrupted", func(t *testing.T) {
			t.Parallel()
			proxy, args := hang()
			p := cmdtest.Start(t, args...)
			cmdtest.Midway(t, proxy, 8)
			began := time.Now()
			cmdtest.Must(t, p.Signal(os.Interrupt))
			o := p.Wait()
			o.Want(t, ui.ExitError, "bound_reached: "+proxy.Addr(), "interrupted: the report has what was known by then: "+
				"about 0 keys examined, 0 of 1 node read to the end")
			if took := time.Since(began); took > 4*time.Second { // an answer is given up after five seconds
				t.Errorf("%v after Ctrl-C it was gone", took)
			}
		})
	}
}

// TestScanEtcdManyKeys: 10,000 keys with a lease are clean, and one without is found among them.
func TestScanEtcdManyKeys(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	granted, err := client.Grant(t.Context(), 600)
	cmdtest.Must(t, err)
	const batch = 100
	for i := range 10_000 / batch {
		var ops []clientv3.Op
		for j := range batch {
			ops = append(ops, clientv3.OpPut(fmt.Sprintf("lock:many/%d/%x", i*batch+j, granted.ID), "",
				clientv3.WithLease(granted.ID)))
		}
		_, err := client.Txn(t.Context()).Then(ops...).Commit()
		cmdtest.Must(t, err)
	}
	args := cmdtest.Quick("--etcd", client.Endpoints()[0])
	command(t, args...).Want(t, ui.ExitClean, "keys below lock: 10000", "10000 locks of concurrency.Mutex")
	_, err = client.Put(t.Context(), fmt.Sprintf("lock:many/7777/%x", granted.ID), "")
	cmdtest.Must(t, err)
	command(t, args...).Want(t, ui.ExitFindings, "lock:many/7777/", "1 no_ttl")
}

// TestScanZooKeeperManyPlaces: 10,000 places of a session are clean, and a persistent one is found among them.
func TestScanZooKeeperManyPlaces(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 1)
	conn := cmdtest.ZooKeeperConn(t, e)
	cmdtest.Znode(t, conn, "/app", zk.FlagPersistent)
	for i := range 100 {
		dir := fmt.Sprintf("/app/%d", i)
		ops := []any{&zk.CreateRequest{Path: dir, Acl: zk.WorldACL(zk.PermAll)}}
		for range 100 {
			ops = append(ops, &zk.CreateRequest{Path: dir + "/lock-", Acl: zk.WorldACL(zk.PermAll),
				Flags: zk.FlagEphemeral | zk.FlagSequence})
		}
		_, err := conn.Multi(ops...)
		cmdtest.Must(t, err)
	}
	args := cmdtest.Quick("--zookeeper", e.Addrs()[0], "--prefix", "/app")
	command(t, args...).Want(t, ui.ExitClean, "places in queues below /app 10000")
	cmdtest.Znode(t, conn, "/app/77/lock-", zk.FlagSequence)
	command(t, args...).Want(t, ui.ExitFindings, "/app/77/lock-0000000100", "waits behind 100 others", "1 no_ttl")
}
