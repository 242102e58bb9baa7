package compose_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// nodes are real servers with the configuration of the stack's.
func nodes(t *testing.T, s stack) []*redisproc.Server {
	t.Helper()
	command := s.Redis.Command
	if len(command) != 2 || command[0] != "redis-server" {
		t.Fatalf("%q", command)
	}
	conf, err := filepath.Abs(s.Services["redis-1"].onHost(t, command[1]))
	must(t, err)
	return locktest.Servers(t, 5, redisproc.WithArgs("--include", conf))
}

func addresses(servers []*redisproc.Server) (all []string) {
	for _, server := range servers {
		all = append(all, server.Addr())
	}
	return all
}

func client(t *testing.T, server *redisproc.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr(), DisableIdentity: true})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestDoctor: the only thing that doctor has to say against five such servers is that
// they are on one machine. It judges no latency: tests share theirs with others.
func TestDoctor(t *testing.T) {
	list := "--redis=" + strings.Join(addresses(nodes(t, loadStack(t))), ",")
	if o := run(t, programs+"lockscope", "init", list); o.status != 0 {
		t.Fatalf("init: exit %d\n%s%s", o.status, o.out, o.err)
	}
	o := run(t, programs+"lockscope", "doctor", list,
		"--for=100ms", "--node-timeout=10s", "--ttl=1h", "-o", "json")
	var report struct {
		Status  string
		Results []struct{ Check, Status, Detail string }
	}
	must(t, json.Unmarshal([]byte(o.out), &report))
	for _, r := range report.Results {
		if r.Status != "pass" && r.Check != "machines" {
			t.Errorf("%s: %s: %s", r.Status, r.Check, r.Detail)
		}
	}
	if o.status != 1 || report.Status != "warn" || len(report.Results) < 30 {
		t.Errorf("exit %d: %d results, %s\n%s", o.status, len(report.Results), report.Status, o.err)
	}
}

// TestHealthcheck runs the containers' own command: it passes while the server
// answers, and fails while it refuses and when it is gone.
func TestHealthcheck(t *testing.T) {
	s := loadStack(t)
	server := nodes(t, s)[0]
	test := s.Services["redis-5"].Healthcheck.Test
	if test[0] != "CMD" || test[1] != "redis-cli" {
		t.Fatalf("%q", test)
	}
	_, port, _ := strings.Cut(server.Addr(), ":")
	args := slices.Concat([]string{"-p", port}, test[2:])
	healthy := func() bool { return run(t, debian(t, test[1]), args...).status == 0 }
	if !healthy() {
		t.Error("a server that answers is not healthy")
	}
	must(t, client(t, server).ConfigSet(t.Context(), "requirepass", "x").Err())
	if healthy() {
		t.Error("a server that refuses is healthy")
	}
	must(t, server.Kill())
	if healthy() {
		t.Error("a server that is gone is healthy")
	}
}
