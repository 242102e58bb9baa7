package operator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/jackc/pgx/v5"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
)

// plans makes plans and applies them, for one system.
type plans struct {
	t     *testing.T
	file  string
	args  []string
	sweep []string // for a plan alone
}

func (p *plans) plan(args ...string) cmdtest.Outcome {
	p.t.Helper()
	p.file = filepath.Join(p.t.TempDir(), "plan.json")
	return command(p.t, append(append([]string{"repair", "plan", "--confirm-after", "10ms", "--operator", "ada", "--out",
		p.file}, append(p.args, p.sweep...)...), args...)...)
}

func (p *plans) apply(args ...string) cmdtest.Outcome {
	p.t.Helper()
	return command(p.t, append(append([]string{"repair", "apply", p.file, "--min-age", "0s"}, p.args...), args...)...)
}

// TestRepairEtcd deletes a key without a lease that nobody has written since, and nothing else.
func TestRepairEtcd(t *testing.T) {
	t.Parallel()
	_, client := cmdtest.Etcd(t, 1)
	put := func(key string, opts ...clientv3.OpOption) {
		t.Helper()
		_, err := client.Put(t.Context(), key, "", opts...)
		cmdtest.Must(t, err)
	}
	s, err := concurrency.NewSession(client)
	cmdtest.Must(t, err)
	defer s.Close()
	alive := fmt.Sprintf("lock:alive/%x", s.Lease())
	put("lock:leak/7d7ba2177dacd005")
	put("lock:rewritten")
	put("lock:taken")
	put(alive)
	put("lock:held", clientv3.WithLease(s.Lease()))
	p := &plans{t: t, args: []string{"--etcd", client.Endpoints()[0]}}
	p.plan("--action", "expire=1h").Want(t, ui.ExitError, "--action is for Redis")
	p.plan().Want(t, ui.ExitClean, "delete  no_ttl", "lock:leak/7d7ba2177dacd005", "mod_revision ", "4 keys to repair",
		"by ada")
	p.plan("--redis", "127.0.0.1:1").Want(t, ui.ExitError, "a plan is for one system")
	p.plan()
	p.apply().Want(t, ui.ExitFindings, "outcome=would_do", "3 would be", "1 refused", "is alive, so its holder may be at "+
		"work")
	command(t, append([]string{"repair", "apply", p.file}, p.args...)...).Want(t, ui.ExitFindings, "wait another",
		"4 refused")
	command(t, "repair", "apply", p.file, "--min-age", "0s", "--redis", "127.0.0.1:1").Want(t, ui.ExitError,
		"the plan is for another system")
	command(t, "repair", "apply", p.file, "--min-age", "0s", "--etcd", "127.0.0.1:1").Want(t, ui.ExitError, "it is for ")
	put("lock:rewritten")
	_, err = client.Delete(t.Context(), "lock:taken")
	cmdtest.Must(t, err)
	p.apply("--yes").Want(t, ui.ExitFindings, "1 done, 0 would be, 1 gone, 1 changed, 1 refused",
		`key="lock:leak/7d7ba2177dacd005" class=no_ttl holder="" ttl=never action="delete" outcome=done`)
	p.apply("--yes").Want(t, ui.ExitFindings, "0 done, 0 would be, 2 gone, 1 changed, 1 refused")
	left, err := client.Get(t.Context(), "lock:", clientv3.WithPrefix(), clientv3.WithCountOnly())
	cmdtest.Must(t, err)
	if left.Count != 3 {
		t.Errorf("%d keys are left, want 3", left.Count)
	}
	text, err := os.ReadFile(p.file + ".audit")
	cmdtest.Must(t, err)
	if n := strings.Count(string(text), " intent operator="); n != 8 ||
		!strings.Contains(string(text), `identity="mod_revision `) {
		t.Errorf("%d intents in the audit log:\n%s", n, text)
	}
}

// TestRepairZooKeeper deletes a persistent place that is as it was.
func TestRepairZooKeeper(t *testing.T) {
	t.Parallel()
	e := cmdtest.ZooKeeper(t, 1)
	conn, events, err := zk.Connect(e.Addrs(), 30*time.Second, zk.WithLogger(cmdtest.Quiet{}))
	cmdtest.Must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range events {
		}
	}()
	defer func() { conn.Close(); <-ended }()
	make := func(path string, flags int32) string {
		t.Helper()
		name, err := conn.Create(path, nil, flags, zk.WorldACL(zk.PermAll))
		cmdtest.Must(t, err)
		return name
	}
	for _, path := range []string{"/app", "/app/a", "/app/b"} {
		make(path, 0)
	}
	leak, written, parent := make("/app/a/lock-", zk.FlagSequence), make("/app/a/lock-", zk.FlagSequence),
		make("/app/b/lock-", zk.FlagSequence)
	held := make("/app/a/lock-", zk.FlagSequence|zk.FlagEphemeral)
	make(parent+"/child", 0)
	p := &plans{t: t, args: []string{"--zookeeper", e.Addrs()[0]}, sweep: []string{"--prefix", "/app"}}
	p.plan().Want(t, ui.ExitClean, "delete  no_ttl", leak, "czxid ", "3 keys to repair")
	_, err = conn.Set(written, []byte("x"), -1)
	cmdtest.Must(t, err)
	p.apply().Want(t, ui.ExitFindings, "1 would be", "1 changed", "1 refused", "it has children")
	p.apply("--yes").Want(t, ui.ExitFindings, "1 done", "1 changed", "1 refused", "outcome=done")
	for path, want := range map[string]bool{leak: false, written: true, parent: true, held: true} {
		if there, _, err := conn.Exists(path); err != nil || there != want {
			t.Errorf("%s is there: %v, %v", path, there, err)
		}
	}
}

// TestRepairPostgres ends a session that is idle in the same transaction, if the operator says so.
func TestRepairPostgres(t *testing.T) {
	t.Parallel()
	s := cmdtest.Postgres(t)
	db := cmdtest.Database(t, s)
	exec := cmdtest.Executing(t, db)
	exec("CREATE TABLE orders (id int PRIMARY KEY); INSERT INTO orders VALUES (1), (2); " +
		"GRANT SELECT, UPDATE ON orders TO service; CREATE ROLE watcher LOGIN; GRANT pg_read_all_stats TO watcher")
	open := func(name string, statements ...string) *pgx.Conn {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), s.URL("service")+"&application_name="+name)
		cmdtest.Must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		for _, sql := range statements {
			_, err := conn.Exec(t.Context(), sql)
			cmdtest.Must(t, err)
		}
		return conn
	}
	forgot := open("forgot", "BEGIN", "SELECT * FROM orders WHERE id = 1 FOR UPDATE")
	works := open("works", "BEGIN", "SELECT * FROM orders WHERE id = 2 FOR UPDATE")
	open("pooled", "SELECT pg_advisory_lock(7)")
	p := &plans{t: t, args: []string{"--postgres", s.URL("postgres")}, sweep: []string{"--allow-empty"}}
	old := []string{"--max-hold", "1ms", "--classes", "held_too_long"}
	p.plan(old...).Want(t, ui.ExitClean, "terminate  held_too_long", "forgot pid ", "backend_start ", "2 keys to repair",
		"1 finding left out", "idle outside a transaction")
	_, err := works.Exec(t.Context(), "COMMIT; BEGIN; SELECT * FROM orders WHERE id = 2 FOR UPDATE")
	cmdtest.Must(t, err)
	p.apply("--yes").Want(t, ui.ExitFindings, "needs --terminate", "2 refused", "0 done")
	p.apply("--terminate").Want(t, ui.ExitFindings, "1 would be", "1 changed")
	weak := &plans{t: t, file: p.file, args: []string{"--postgres", s.URL("watcher")}}
	weak.apply("--terminate", "--yes").Want(t, ui.ExitError, "GRANT pg_signal_backend")
	cmdtest.Must(t, forgot.Ping(t.Context()))
	_, err = forgot.Exec(t.Context(), "SELECT 1")
	cmdtest.Must(t, err)
	p.apply("--terminate", "--yes").Want(t, ui.ExitFindings, "1 done", "1 changed", "outcome=done")
	if _, err := forgot.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("the idle session is still there")
	}
	cmdtest.Must(t, works.Ping(t.Context()))
	p.apply("--terminate", "--yes").Want(t, ui.ExitFindings, "1 gone", "1 changed")
}
