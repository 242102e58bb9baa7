package diagnosis

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/profiles"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
)

// shownAs starts a server that answers as p.
func shownAs(t *testing.T, p profiles.Profile) Node {
	t.Helper()
	s, err := profiles.Listen(locktest.Servers(t, 1)[0].Addr(), p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return Node{s.Addr(), s.Addr(), clientOf(t, &redis.Options{Addr: s.Addr()})}
}

// TestRealServersThatRefuseToBeAsked: each refusal is named, and what can be examined without is examined.
func TestRealServersThatRefuseToBeAsked(t *testing.T) {
	t.Parallel()
	redisItself := profiles.Profile{}
	for name, c := range map[string]struct {
		profile profiles.Profile
		level   Level
		status  inspect.Status
		says    []string
	}{
		"INFO": {redisItself.Refusing("info", "ERR unknown command 'info'"), LevelWithout, inspect.Fail,
			[]string{"INFO is refused: ERR unknown command 'info': restarts, replicas", "WithoutGuard", "--without-guard"}},
		"INFO to this user": {redisItself.Refusing("info", "NOPERM no 'info'"), LevelWithout, inspect.Fail,
			[]string{"INFO is refused: NOPERM", "grant +info"}},
		"section Replication": {redisItself.WithoutSections("Replication"), LevelWithout, inspect.Fail,
			[]string{"INFO has no section Replication", "INFO has no role", "replicas and restarts", "WithoutGuard"}},
		"section Memory": {redisItself.WithoutSections("Memory"), LevelFull, inspect.Fail,
			[]string{"INFO has no section Memory", "by evicted_keys", "WithoutEviction", "--without-eviction"}},
		"section Stats": {redisItself.WithoutSections("Stats"), LevelFull, inspect.Pass,
			[]string{"INFO has no section Stats", "INFO has no evicted_keys"}},
		"CONFIG": {redisItself.Refusing("config", "ERR unknown command 'config'"), LevelFull, inspect.Pass,
			[]string{"CONFIG is refused", "locks do not need it"}},
		"EVAL": {redisItself.Refusing("eval", "ERR unknown command 'eval'"), LevelUnfit, inspect.Fail,
			[]string{"EVAL is refused", "no lock can be taken on it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := patient()
			results := examine(t, p, []Node{shownAs(t, c.profile)})
			want(t, results, "connection", "", inspect.Pass, "connected")
			want(t, results, "clock", "", inspect.Pass, "")
			want(t, results, "guard", "", c.status, string(c.level))
			var all strings.Builder
			for _, r := range ofCheck(results, "guard") {
				all.WriteString(r.Detail + " " + r.Advice + "\n")
			}
			for _, text := range c.says {
				if !strings.Contains(all.String(), text) {
					t.Errorf("%q is not in\n%s", text, &all)
				}
			}
		})
	}
}

// TestWhatIsStatedIsNoFailure any more, but a warning that says what is lost.
func TestWhatIsStatedIsNoFailure(t *testing.T) {
	t.Parallel()
	f := sound(1)
	f.Server.RunID, f.Server.Incarnation = "", ""
	p := testPolicy()
	want(t, Examine([]Facts{f}, p), "guard", "", inspect.Fail, "--marker-identity")
	p.Guard.MarkerIdentity = true
	for _, r := range ofCheck(Examine([]Facts{f}, p), "guard") {
		if r.Status != inspect.Warn {
			t.Errorf("%+v", r)
		}
	}
	p.Guard.MarkerIdentity, p.Guard.WithoutGuard = false, true
	for _, r := range ofCheck(Examine([]Facts{f}, p), "guard") {
		if r.Status != inspect.Warn {
			t.Errorf("%+v", r)
		}
	}
	f.Server.Role = "other"
	want(t, Examine([]Facts{f}, p), "guard", "", inspect.Warn, `the unknown role "other"`)
	f.Server.Role, p.Guard.WithoutGuard, p.Single = "master", false, "cluster"
	want(t, Examine([]Facts{f}, p), "guard", "", inspect.Fail, string(LevelWithout))
	want(t, Examine([]Facts{f}, p), "guard", "", inspect.Warn, "as a Redis Cluster has no markers")
}
