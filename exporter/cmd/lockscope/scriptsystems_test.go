package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/rogpeppe/go-internal/testscript"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/contrib/zklock/zkproc"
	"github.com/lockscope/lockscope/lock/etcdlock/etcdproc"
)

func systemVerbs() map[string]verb {
	return map[string]verb{
		"postgres": startPostgres, "standby": startStandby, "pooler": startPooler, "pg-file": putFile,
		"sql": runSQL, "pooled": overPooler, "session": openSession,
		"etcd": startEtcd, "lease": grantLease, "put": putKey, "del": deleteKey, "keys": showKeys,
		"fill-etcd":     fillEtcd,
		"require-users": requireUsers,
		"zookeeper":     startZooKeeper, "znode": makeNode, "zset": setNode, "znodes": showNodes, "zk.Lock": lockNode,
	}
}

// system is the server, cluster or ensemble of this name.
func system[S any](ts *testscript.TestScript, name string) S {
	s, ok := of(ts).systems[name].(S)
	if !ok {
		ts.Fatalf("%s is no %T", name, s)
	}
	return s
}

// addMembers adds NAME for all servers of a cluster, and NAME1, NAME2 and so on for each; the leader is the first.
func addMembers[S interface {
	server
	comparable
}](ts *testscript.TestScript, name string, members []S, leader S, addr func(S) string) {
	members = slices.Clone(members)
	if i := slices.Index(members, leader); i > 0 {
		members[0], members[i] = members[i], members[0]
	}
	var all []string
	for i, s := range members {
		number := name + strconv.Itoa(i+1)
		of(ts).servers[number] = s
		ts.Setenv(number, addr(s))
		all = append(all, addr(s))
	}
	ts.Setenv(name, strings.Join(all, ","))
}

// counted reads NAME [NUMBER] [-- OPTION...].
func counted(ts *testscript.TestScript, args []string) (name string, n int, options []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		args, options = args[:i], args[i+1:]
	}
	if n = 1; len(args) > 1 {
		var err error
		n, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	return args[0], n, options
}

// startEtcd NAME [MEMBERS] [-- ARGUMENT...]
func startEtcd(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	name, n, options := counted(ts, args)
	c, client := cmdtest.Etcd(of(ts), n, options...)
	leader, err := c.Leader(of(ts).Context())
	ts.Check(err)
	of(ts).systems[name] = client
	addMembers(ts, name, c.Members, leader, (*etcdproc.Member).Endpoint)
	return cmdtest.Outcome{}
}

// grantLease NAME LEASE [SECONDS] keeps a lease alive until the script ends. The variable LEASE has its number.
func grantLease(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	ttl, err := strconv.Atoi(append(args, "60")[2])
	ts.Check(err)
	s, err := concurrency.NewSession(system[*clientv3.Client](ts, args[0]), concurrency.WithTTL(ttl))
	ts.Check(err)
	of(ts).Cleanup(func() { _ = s.Close() })
	ts.Setenv(args[1], fmt.Sprintf("%x", s.Lease()))
	return cmdtest.Outcome{}
}

// putKey NAME KEY [VALUE [LEASE]]
func putKey(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	value, lease := "", int64(0)
	if len(args) > 2 {
		value = args[2]
	}
	if len(args) > 3 {
		var err error
		lease, err = strconv.ParseInt(args[3], 16, 64)
		ts.Check(err)
	}
	_, err := system[*clientv3.Client](ts, args[0]).Put(of(ts).Context(), args[1], value,
		clientv3.WithLease(clientv3.LeaseID(lease)))
	ts.Check(err)
	return cmdtest.Outcome{}
}

// deleteKey NAME KEY
func deleteKey(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	_, err := system[*clientv3.Client](ts, args[0]).Delete(of(ts).Context(), args[1])
	ts.Check(err)
	return cmdtest.Outcome{}
}

// showKeys NAME PREFIX
func showKeys(ts *testscript.TestScript, args []string) (o cmdtest.Outcome) {
	found, err := system[*clientv3.Client](ts, args[0]).Get(of(ts).Context(), args[1], clientv3.WithPrefix(),
		clientv3.WithKeysOnly())
	ts.Check(err)
	for _, kv := range found.Kvs {
		o.Out += string(kv.Key) + "\n"
	}
	return o
}

// fillEtcd NAME writes until the quota is used up.
func fillEtcd(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	var full error
	for full == nil {
		_, full = system[*clientv3.Client](ts, args[0]).Put(of(ts).Context(), "big", strings.Repeat("x", 64<<10))
	}
	return cmdtest.Outcome{Err: full.Error() + "\n"}
}

// requireUsers NAME: from now on the cluster requires a user. The user poor, whose password is p00r, may read keys below lock:
// and nothing else.
func requireUsers(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	c, ctx := system[*clientv3.Client](ts, args[0]), of(ts).Context()
	_, err := c.UserAdd(ctx, "root", "r00t")
	ts.Check(err)
	_, err = c.UserGrantRole(ctx, "root", "root")
	ts.Check(err)
	_, err = c.UserAdd(ctx, "poor", "p00r")
	ts.Check(err)
	_, err = c.RoleAdd(ctx, "reader")
	ts.Check(err)
	_, err = c.RoleGrantPermission(ctx, "reader", "lock:", clientv3.GetPrefixRangeEnd("lock:"),
		clientv3.PermissionType(clientv3.PermRead))
	ts.Check(err)
	_, err = c.UserGrantRole(ctx, "poor", "reader")
	ts.Check(err)
	_, err = c.AuthEnable(ctx)
	ts.Check(err)
	return cmdtest.Outcome{}
}

// startZooKeeper NAME [SERVERS] [-- SETTING...] skips the script where tests are to be short.
func startZooKeeper(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	name, n, settings := counted(ts, args)
	e := cmdtest.ZooKeeper(of(ts), n, zkproc.WithSettings(settings...))
	leader := e.Servers[0]
	if n > 1 {
		var err error
		leader, err = e.Leader()
		ts.Check(err)
	}
	of(ts).systems[name] = &ensemble{Ensemble: e, conn: cmdtest.ZooKeeperConn(of(ts), e)}
	addMembers(ts, name, e.Servers, leader, (*zkproc.Server).Addr)
	return cmdtest.Outcome{}
}

// ensemble has a client.
type ensemble struct {
	*zkproc.Ensemble
	conn *zk.Conn
}

// makeNode NAME PATH [KIND] makes a node of ZooKeeper: KIND has e if it is ephemeral, s if it gets a number, and p if only the
// user ada, whose password is s3cr3t, may use it. It shows the path. Missing parents are made.
func makeNode(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	kind, flags, acl := append(args, "")[2], int32(0), zk.WorldACL(zk.PermAll)
	if strings.Contains(kind, "e") {
		flags |= zk.FlagEphemeral
	}
	if strings.Contains(kind, "s") {
		flags |= zk.FlagSequence
	}
	if strings.Contains(kind, "p") {
		acl = zk.DigestACL(zk.PermAll, "ada", "s3cr3t")
	}
	conn := system[*ensemble](ts, args[0]).conn
	ts.Check(conn.AddAuth("digest", []byte("ada:s3cr3t")))
	for i := range args[1] {
		if i > 0 && args[1][i] == '/' {
			_, _ = conn.Create(args[1][:i], nil, 0, zk.WorldACL(zk.PermAll)) // unless it is there
		}
	}
	path, err := conn.Create(args[1], nil, flags, acl)
	ts.Check(err)
	return cmdtest.Outcome{Out: path + "\n"}
}

// setNode NAME PATH VALUE
func setNode(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	_, err := system[*ensemble](ts, args[0]).conn.Set(args[1], []byte(args[2]), -1)
	ts.Check(err)
	return cmdtest.Outcome{}
}

// showNodes NAME PATH shows what is below a node.
func showNodes(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	names, _, err := system[*ensemble](ts, args[0]).conn.Children(args[1])
	ts.Check(err)
	slices.Sort(names)
	return cmdtest.Outcome{Out: strings.Join(names, "\n") + "\n"}
}

// lockNode NAME PATH takes a lock with the client's own zk.Lock.
func lockNode(ts *testscript.TestScript, args []string) cmdtest.Outcome {
	ts.Check(zk.NewLock(system[*ensemble](ts, args[0]).conn, args[1], zk.WorldACL(zk.PermAll)).Lock())
	return cmdtest.Outcome{}
}
