package scan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// TestScanZooKeeper: locks of zklock and of zk.Lock that are held as they should be, and places that leaked.
func TestScanZooKeeper(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 1)
	args := cmdtest.Quick("--zookeeper", e.Addrs()[0])
	command(t, args...).Want(t, ui.ExitIncomplete, "no_match", "no lock is below /")
	command(t, append(args, "--allow-empty")...).Want(t, ui.ExitClean, "nothing")
	cmdtest.Hold(t, cmdtest.ZooKeeperLocker(t, e, "zk-1"), "order/1")
	conn := cmdtest.ZooKeeperConn(t, e)
	cmdtest.Znode(t, conn, "/app", zk.FlagPersistent)
	cmdtest.Znode(t, conn, "/app/config-lock-notes", zk.FlagPersistent)
	held, busy := zk.NewLock(conn, "/app/held", zk.WorldACL(zk.PermAll)), "/app/busy"
	cmdtest.Must(t, held.Lock())
	cmdtest.Znode(t, conn, busy, zk.FlagPersistent)
	const guid = "_c_6f1d2d1e-8a5e-4f8e-9b59-6a1f3e0c7a11-lock-"
	cmdtest.Znode(t, conn, busy+"/"+guid, zk.FlagEphemeral|zk.FlagSequence)
	cmdtest.Znode(t, conn, busy+"/"+guid, zk.FlagEphemeral|zk.FlagSequence)
	args = append(args, "--prefix", "/app")
	o := command(t, args...)
	o.Want(t, ui.ExitClean, "nothing", "places in queues below /app 3")
	o.WantNot(t, "INCOMPLETE")
	short := command(t, append(args, "--max-hold", "1ms")...)
	short.Want(t, ui.ExitFindings, "held_too_long", "order/1 ", "zk-1", "/app/held/", "session 0x",
		"1 lock below /app")

	cmdtest.Znode(t, conn, "/app/stale", zk.FlagPersistent)
	cmdtest.Znode(t, conn, "/app/stale/"+guid, zk.FlagSequence)
	cmdtest.Znode(t, conn, "/app/stale/"+guid, zk.FlagEphemeral|zk.FlagSequence)
	o = command(t, args...)
	o.Want(t, ui.ExitFindings, "no_ttl", "/app/stale/"+guid+"0000000000", "it is persistent, so no session ends it",
		"it holds the lock; behind it: 1 place", "1 no_ttl")
	o.WantNot(t, "/app/held", "/app/busy", "notes", "order/1")
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

// TestScanZooKeeperUnread: nodes that the user may not read, and an ensemble that is down.
func TestScanZooKeeperUnread(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 1)
	conn := cmdtest.ZooKeeperConn(t, e)
	cmdtest.Must(t, conn.AddAuth("digest", []byte("ada:s3cr3t")))
	cmdtest.Znode(t, conn, "/app", zk.FlagPersistent)
	_, err := conn.Create("/app/mine", nil, 0, zk.DigestACL(zk.PermAll, "ada", "s3cr3t"))
	cmdtest.Must(t, err)
	_, err = conn.Create("/app/mine/lock-", nil, zk.FlagSequence, zk.DigestACL(zk.PermAll, "ada", "s3cr3t"))
	cmdtest.Must(t, err)
	args := cmdtest.Quick("--zookeeper", e.Addrs()[0], "--prefix", "/app")
	o := command(t, args...)
	o.Want(t, ui.ExitIncomplete, "values_unread", "1 node below /app may not be read", "LOCKSCOPE_ZOOKEEPER_AUTH")
	o.WantNot(t, "/app/mine")
	o = commandWith(t, []string{"LOCKSCOPE_ZOOKEEPER_AUTH=ada:s3cr3t"}, "", args...)
	o.Want(t, ui.ExitFindings, "/app/mine/lock-0000000000")
	o.WantNot(t, "s3cr3t")
	cmdtest.Must(t, e.Servers[0].Kill())
	down := command(t, args...)
	down.Want(t, ui.ExitError, "not read", "node_failed", "this machine can reach it")
	if strings.Contains(down.Out, "nothing") {
		t.Errorf("nothing of what was not read:\n%s", down.Out)
	}
}
