package cron_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

const (
	placeholder = "CHANGE-ME"
	password    = "an-acl-passw0rd"
	held        = "00112233445566778899aabbccddeeff:1763000000000001|worker-7/42|1763000000000||"
)

// users are the grants of users.acl by user, without "on" and the password.
func users(t *testing.T) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for line := range strings.Lines(read(t, "users.acl")) {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[0] != "user" || fields[2] != "on" || fields[3] != ">"+placeholder {
			t.Fatalf("%q", line)
		}
		all[fields[1]] = fields[4:]
	}
	return all
}

type server struct {
	*redisproc.Server
	admin *redis.Client
}

// aclServer is a server that has read users.acl.
func aclServer(t *testing.T) server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.acl")
	must(t, os.WriteFile(path, []byte(strings.ReplaceAll(read(t, "users.acl"), placeholder, password)), 0o600))
	s := locktest.Servers(t, 1, redisproc.WithArgs("--aclfile", path, "--appendonly", "yes", "--appendfsync",
		"always"))[0]
	admin := redis.NewClient(&redis.Options{Addr: s.Addr(), DisableIdentity: true})
	t.Cleanup(func() { must(t, admin.Close()) })
	return server{s, admin}
}

// plant leaves one lock of each kind that scans look into in a way of its own.
func (s server) plant(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	must(t, s.admin.FlushAll(ctx).Err())
	must(t, s.admin.Set(ctx, "lock:leak", held, 0).Err())
	must(t, s.admin.Set(ctx, "lock:empty", "", 0).Err())
	must(t, s.admin.Set(ctx, "lock:long", strings.Repeat("x", 1000), 0).Err())
	must(t, s.admin.Set(ctx, "lock:fine", "1"+held[1:], time.Minute).Err())
	must(t, s.admin.HSet(ctx, "lock:redisson", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", 1).Err())
	must(t, s.admin.LPush(ctx, "lock:list", "x").Err())
	s.plantReaders(t)
	must(t, s.admin.ScriptFlush(ctx).Err())
	must(t, s.admin.ConfigResetStat(ctx).Err()) // or lockscope init sees that it was emptied
	must(t, s.admin.ACLLogReset(ctx).Err())
}

// plantReaders leaves readers of three locks: one whose time is over, one with a long TTL, and more than are read.
func (s server) plantReaders(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	const long = 100 * time.Hour
	reader := func(ends time.Time) string { return fmt.Sprintf("%d:%s|||read", ends.UnixMilli(), held[33:]) }
	must(t, s.admin.HSet(ctx, "lock:over", held[:32], reader(time.Now().Add(-time.Hour))).Err())
	must(t, s.admin.HSet(ctx, "lock:days", "1"+held[1:32], reader(time.Now().Add(long))).Err())
	must(t, s.admin.PExpire(ctx, "lock:days", long).Err())
	for i := range 20 {
		must(t, s.admin.HSet(ctx, "lock:many", fmt.Sprintf("%032x", i), reader(time.Now())).Err())
	}
}

// denied is what the server has refused to anybody since plant.
func (s server) denied(t *testing.T) (all []string) {
	t.Helper()
	log, err := s.admin.ACLLog(t.Context(), 100).Result()
	must(t, err)
	for _, e := range log {
		all = append(all, fmt.Sprintf("%s: %s %s in %s", e.Username, e.Reason, e.Object, e.Context))
	}
	return all
}

func (s server) grant(t *testing.T, user string, grants []string) {
	t.Helper()
	args := []any{"ACL", "SETUSER", user, "reset", "on", ">" + password}
	for _, g := range grants {
		args = append(args, g)
	}
	must(t, s.admin.Do(t.Context(), args...).Err())
}

// duty is what one user must be able to do.
type duty struct {
	user   string
	args   []string
	status int
	says   string
	proof  func(s server) bool // of what it did, if it is more than to look
}

func duties() []duty {
	repaired := func(s server) bool {
		return s.admin.Exists(context.Background(), "lock:leak", "lock:redisson", "lock:over").Val() == 0
	}
	deleted := func(s server) bool { // a scan leaves the value of Redisson to a plan
		return s.admin.Exists(context.Background(), "lock:leak", "lock:over").Val() == 0
	}
	shortened := func(s server) bool { return s.admin.PTTL(context.Background(), "lock:days").Val() < 2*time.Hour }
	expiring := func(s server) bool { return s.admin.PTTL(context.Background(), "lock:leak").Val() > 0 }
	vouched := func(s server) bool {
		return strings.HasPrefix(s.admin.Get(context.Background(), "lockscope:life").Val(), "voting|")
	}
	return []duty{
		{"lockscope-init", []string{"init"}, 0, "vouched for 1 node", vouched},
		{"lockscope-scan", []string{"scan", "--confirm-after=10ms"}, 1, "lock:leak", nil},
		{"lockscope-list", []string{"list"}, 0, "worker-7/42", nil},
		{"lockscope-repair", []string{"scan", "--confirm-after=10ms", "--min-age=0s", "--repair=delete", "--yes",
			"--audit-log=/dev/null"}, 2, "outcome=done", deleted},
		{"lockscope-repair", []string{"scan", "--confirm-after=10ms", "--min-age=0s", "--repair=expire=1h", "--yes",
			"--audit-log=/dev/null"}, 2, "outcome=done", expiring},
		{"lockscope-repair", []string{"scan", "--confirm-after=10ms", "--min-age=0s", "--repair=expire=1h",
			"--repair-classes=long_ttl", "--yes", "--audit-log=/dev/null"}, 1, "outcome=done", shortened},
		{"lockscope-repair", []string{"repair", "apply"}, 0, "done", repaired},
		{"lockscope-doctor", []string{"doctor", "--for=50ms", "--node-timeout=10s", "--ttl=1h",
			"--acl-user=lockscope-serve", "--prefix=lockscope:elect:"}, 1, "rights", nil},
	}
}

func (d duty) do(t *testing.T, s server) outcome {
	t.Helper()
	s.plant(t)
	if slices.Equal(d.args, []string{"list"}) { // a server that has a queue is none that may be vouched for
		must(t, s.admin.ZAdd(t.Context(), "lockscope:queue:{lock:fine}",
			redis.Z{Score: 1, Member: "0011223344556677"}).Err())
		must(t, s.admin.Set(t.Context(), "lockscope:waiter:{lock:fine}:0011223344556677", "1\nworker-8/42|1|||2||",
			time.Minute).Err())
	}
	env := []string{"LOCKSCOPE_REDIS_PASSWORD=" + password}
	server := []string{"--redis=" + s.Addr(), "--redis-username=" + d.user}
	args := slices.Concat(d.args, server)
	if d.args[0] == "repair" { // a plan comes first
		plan := filepath.Join(t.TempDir(), "plan.json")
		making := []string{"repair", "plan", "--action=delete", "--operator=ada", "--confirm-after=10ms", "--out", plan}
		if o := run(t, env, built, slices.Concat(making, server)...); o.status != 0 {
			return o
		}
		args = append(args, plan, "--min-age=0s", "--yes")
	}
	if d.args[0] == "scan" { // whether several nodes are one Redlock's it reads off them
		_, port, _ := strings.Cut(s.Addr(), ":")
		args = append(args, "--redis=localhost:"+port)
	}
	return run(t, env, built, args...)
}

func (d duty) done(o outcome, s server) bool {
	return o.status == d.status && strings.Contains(o.out+o.err, d.says) && (d.proof == nil || d.proof(s))
}

// TestUsersSuffice: each user can do its duty, and the server refuses it nothing.
func TestUsersSuffice(t *testing.T) {
	s := aclServer(t)
	for _, d := range duties() {
		t.Run(d.user, func(t *testing.T) {
			if o := d.do(t, s); !d.done(o, s) {
				t.Errorf("%q: exit %d\n%s%s", d.args, o.status, o.out, o.err)
			}
			if denied := s.denied(t); len(denied) > 0 {
				t.Errorf("ACL LOG: %q", denied)
			}
		})
	}
}

// TestUsersNeedAllTheyHave takes one grant after the other away: a duty of the user
// then fails, or the server has refused something.
func TestUsersNeedAllTheyHave(t *testing.T) {
	s := aclServer(t)
	for user, grants := range users(t) {
		var own []duty
		for _, d := range duties() {
			if d.user == user {
				own = append(own, d)
			}
		}
		if len(own) == 0 {
			continue // lockscope-serve: TestServeUser
		}
		for _, taken := range grants {
			s.grant(t, user, slices.DeleteFunc(slices.Clone(grants), func(g string) bool { return g == taken }))
			missed := false
			for _, d := range own {
				o := d.do(t, s)
				missed = missed || !d.done(o, s) || len(s.denied(t)) > 0
			}
			if !missed {
				t.Errorf("%s does not need %s", user, taken)
			}
		}
	}
}

// TestUsersMayDoNoMore: none of them reads or changes anything but locks.
func TestUsersMayDoNoMore(t *testing.T) {
	s := aclServer(t)
	for user := range users(t) {
		c := redis.NewClient(&redis.Options{Addr: s.Addr(), Username: user, Password: password, DisableIdentity: true})
		defer c.Close()
		for _, command := range []string{"GET customer:1", "SET customer:1 x", "FLUSHALL", "KEYS *",
			"CONFIG SET maxmemory 1", "ACL LIST", "SHUTDOWN",
			"RENAME lock:a lock:b", "MONITOR", "SCRIPT FLUSH", "SUBSCRIBE news", "SET lock:leak x",
			"TYPE customer:1", "PTTL customer:1", "GETRANGE customer:1 0 9", "HGETALL customer:1",
			"EVAL_RO return(1) 1 customer:1"} {
			var args []any
			for f := range strings.FieldsSeq(command) {
				args = append(args, f)
			}
			if err := c.Do(t.Context(), args...).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
				t.Errorf("%s: %s: %v", user, command, err)
			}
		}
		if user == "lockscope-repair" {
			continue
		}
		if err := c.Del(t.Context(), "lock:leak").Err(); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
			t.Errorf("%s may delete locks: %v", user, err)
		}
	}
}
