package scan

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/netfault"
	"github.com/lockscope/lockscope/lock/pglock/pgproc"
)

// awaitLook waits until a look at PostgreSQL is in its middle: it waits for a table that a migration has locked.
func awaitLook(t *testing.T, s *pgproc.Server) {
	t.Helper()
	db := cmdtest.Database(t, s)
	cmdtest.Eventually(t, "the look waits for the table", func() bool {
		waits := false
		cmdtest.Must(t, db.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity "+
			"WHERE application_name = 'lockscope' AND wait_event_type = 'Lock')").Scan(&waits))
		return waits
	})
}

// TestScanInterruptedMidLook: after Ctrl-C the report has what PostgreSQL had shown by then, and says how much was
// read.
func TestScanInterruptedMidLook(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	session(t, s, "service", "report", "SELECT pg_advisory_lock(4711)")
	session(t, s, "postgres", "migrates", "BEGIN", "LOCK TABLE lockscope.lock IN ACCESS EXCLUSIVE MODE")
	redis := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, redis), "lock:leak", "v", 0)
	p := cmdtest.Start(t, "scan", "--postgres", s.URL("postgres"), "--redis", redis.Addr(), "--max-hold", "1ms")
	awaitLook(t, s)
	cmdtest.Must(t, p.Signal(os.Interrupt))
	o := p.Wait()
	o.Want(t, ui.ExitError, "held_too_long", "advisory lock 4711", "not confirmed: ", "INCOMPLETE",
		fmt.Sprint("bound_reached: 127.0.0.1:", s.Port()), "interrupted: the report has what was known by then: about ")
	o.WantNot(t, "no answer within")
	if !regexp.MustCompile(`about [1-9]\d* keys? examined, [01] of 2 nodes read to the end\n`).MatchString(o.Err) {
		t.Errorf("it does not say how much it has read:\n%s", o.Err)
	}
}

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
			p.Wait().Want(t, ui.ExitError, name, proxy.Addr(), "not read", "node_failed", "this machine can reach it")
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

// TestScanZooKeeperHangs: one server of three that hangs is no gap, and two are reported, as is the only one.
func TestScanZooKeeperHangs(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 3)
	conn := cmdtest.ZooKeeperConn(t, e)
	for _, path := range []string{"/locks", "/locks/report", "/locks/report/lock-0000000001"} {
		cmdtest.Znode(t, conn, path, 0)
	}
	args := cmdtest.Quick("--zookeeper", strings.Join(e.Addrs(), ","))
	leader, err := e.Leader()
	cmdtest.Must(t, err)
	hung := 0
	for _, s := range e.Servers {
		if s == leader {
			continue
		}
		cmdtest.Must(t, s.Pause())
		defer func() { cmdtest.Must(t, s.Resume()) }()
		if hung++; hung == 1 {
			command(t, args...).Want(t, ui.ExitFindings, "/locks/report/lock-0000000001")
		}
	}
	command(t, args...).Want(t, ui.ExitError, "not read", "node_failed", "this machine can reach it")
	one := cmdtest.ZooKeeper(t, 1)
	cmdtest.Must(t, one.Servers[0].Pause())
	defer func() { cmdtest.Must(t, one.Servers[0].Resume()) }()
	command(t, cmdtest.Quick("--zookeeper", one.Addrs()[0])...).Want(t, ui.ExitError, "not read", "node_failed",
		"no server granted a session", "this machine can reach it")
}

// TestTwoScansAtOnce with one file for their memory find the same. One of them may report that it did not save.
func TestTwoScansAtOnce(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	put(t, client, "lock:leak")
	args := []string{"scan", "--etcd", client.Endpoints()[0], "--confirm-after", "10ms", "--state",
		t.TempDir() + "/state"}
	first, second := cmdtest.Start(t, args...), cmdtest.Start(t, args...)
	for _, p := range []*cmdtest.Started{first, second} {
		o := p.Wait()
		want := ui.ExitFindings
		if strings.Contains(o.Err, "another process saves to the same store") {
			want = ui.ExitError
		}
		o.Want(t, want, "no_ttl", "lock:leak")
	}
	command(t, args...).Want(t, ui.ExitFindings, "lock:leak")
}
