package scan

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner/report"
)

func etcdSession(t *testing.T, client *clientv3.Client, opts ...concurrency.SessionOption) *concurrency.Session {
	t.Helper()
	s, err := concurrency.NewSession(client, opts...)
	cmdtest.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, client *clientv3.Client, key string, opts ...clientv3.OpOption) {
	t.Helper()
	_, err := client.Put(t.Context(), key, "", opts...)
	cmdtest.Must(t, err)
}

// TestScanEtcd: locks of etcdlock and of a Mutex that are held as they should be, and some that leaked.
func TestScanEtcd(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	args := cmdtest.Quick("--etcd", strings.Join(client.Endpoints(), ","))
	command(t, args...).Want(t, ui.ExitIncomplete, "no_match", "no key begins with lock:", "keys below lock: 0")
	command(t, append(args, "--allow-empty")...).Want(t, ui.ExitClean, "etcd     ", "nothing")

	cmdtest.Hold(t, cmdtest.EtcdLocker(t, client, "etcd-1"), "order")
	holder, waiter := etcdSession(t, client), etcdSession(t, client)
	cmdtest.Must(t, concurrency.NewMutex(holder, "/locks/job").Lock(t.Context()))
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	go func() { _ = concurrency.NewMutex(waiter, "/locks/job").Lock(ctx) }()
	args = append(args, "--prefix", "/locks/")
	cmdtest.Eventually(t, "the waiter is there", func() bool {
		o := command(t, args...)
		return strings.Contains(o.Out, "keys below /locks/ 2")
	})
	o := command(t, args...)
	o.Want(t, ui.ExitClean, "nothing", "1 lock of concurrency.Mutex")
	command(t, append(args, "--max-hold", "1ms")...).Want(t, ui.ExitFindings, "held_too_long", "lock:order/", "etcd-1",
		"keeps its lease alive; it holds lock:order")

	// A claim whose lease was detached holds the lock for ever, and the queue behind it starves.
	put(t, client, fmt.Sprintf("/locks/job/%x", holder.Lease()))
	put(t, client, "/locks/old")
	long, err := client.Grant(t.Context(), 7200)
	cmdtest.Must(t, err)
	put(t, client, "/locks/long", clientv3.WithLease(long.ID))
	leaked := fmt.Sprintf("no_ttl    %s  /locks/job/%x", client.Endpoints()[0][len("http://"):], holder.Lease())
	o = command(t, args...)
	o.Want(t, ui.ExitFindings, leaked, fmt.Sprintf("it holds /locks/job; behind it wait lease %x", waiter.Lease()),
		"/locks/old ", "it has no lease, so it never expires", "long_ttl", "/locks/long ",
		"its lease was granted for 2h00m, longer than the limit of 1h00m", "2 no_ttl, 1 long_ttl")
	o.WantNot(t, "lock:order")
	var d report.Document
	command(t, append(args, "-o", "json")...).Decode(t, &d)
	if f := d.Findings[0]; len(d.Findings) != 3 || f.Backend != "etcd" || f.Type != "key" || f.TTL != nil ||
		d.Nodes[0].Matched["keys below /locks/"] != 4 {
		t.Errorf("%+v", d)
	}
	command(t, append(args, "--prefix", "/other/")...).Want(t, ui.ExitFindings, "no key begins with /other/")
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
	put(t, client, fmt.Sprintf("lock:many/7777/%x", granted.ID))
	command(t, args...).Want(t, ui.ExitFindings, "lock:many/7777/", "1 no_ttl")
}

// TestScanEtcdHung: with one of three members hung the report is complete; with two, nothing was read.
func TestScanEtcdHung(t *testing.T) {
	t.Parallel()
	c, client := cmdtest.Etcd(t, 3)
	put(t, client, "lock:leak")
	args := cmdtest.Quick("--etcd", strings.Join(client.Endpoints(), ","))
	leader, err := c.Leader(t.Context())
	cmdtest.Must(t, err)
	hung := 0
	for _, m := range c.Members {
		if m != leader && hung == 0 {
			hung++
			cmdtest.Must(t, m.Pause())
			defer func() { cmdtest.Must(t, m.Resume()) }()
		}
	}
	o := command(t, args...)
	o.Want(t, ui.ExitFindings, "lock:leak", "1 no_ttl")
	o.WantNot(t, "INCOMPLETE")
	cmdtest.Must(t, leader.Pause())
	defer func() { cmdtest.Must(t, leader.Resume()) }()
	o = command(t, append(args, "--deadline", "8s")...)
	o.Want(t, ui.ExitError, "not read", "node_failed", "no member answered for a majority")
	o.WantNot(t, "nothing")
	command(t, cmdtest.Quick("--etcd", "127.0.0.1:1")...).Want(t, ui.ExitError, "not read", "this machine can reach it")
}

// TestScanEtcdRights: a prefix that the user may not read is named, and the rest is read.
func TestScanEtcdRights(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	put(t, client, "lock:leak")
	put(t, client, "/locks/secret")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, err := range []error{
		second(client.UserAdd(ctx, "root", "r00t")), second(client.UserGrantRole(ctx, "root", "root")),
		second(client.UserAdd(ctx, "poor", "p00r")), second(client.RoleAdd(ctx, "reader")),
		second(client.RoleGrantPermission(ctx, "reader", "lock:", clientv3.GetPrefixRangeEnd("lock:"),
			clientv3.PermissionType(clientv3.PermRead))),
		second(client.UserGrantRole(ctx, "poor", "reader")), second(client.AuthEnable(ctx)),
	} {
		cmdtest.Must(t, err)
	}
	args := cmdtest.Quick("--etcd", client.Endpoints()[0], "--prefix", "/locks/")
	env := []string{"LOCKSCOPE_ETCD_PASSWORD=p00r"}
	o := commandWith(t, env, "", append(args, "--etcd-username", "poor")...)
	o.Want(t, ui.ExitFindings, "lock:leak", "INCOMPLETE", "user poor may not read the keys below /locks/")
	o.WantNot(t, "secret", "p00r")
	command(t, args...).Want(t, ui.ExitIncomplete, "the cluster requires a user: set --etcd-username")
}

func second[T any](_ T, err error) error { return err }
