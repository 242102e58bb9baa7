package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
)

// TestDiscover says whose locks there are, shows no value, and proposes a configuration
// that scan takes.
func TestDiscover(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	const task = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	set(t, c, "job-lock:default:nightly", "ADDED:"+time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+"@batch-7", 9*time.Minute)
	set(t, c, "SINGLETONLOCK_d41d8cd98f00b204e9800998ecf8427e", task, 0)
	set(t, c, "app:lock:1", ours, time.Minute)
	set(t, c, "app:lock:2", ours, time.Minute)
	set(t, c, "session:"+strings.Repeat("x", 100), "9f86d081884c3d659a2feaa0c55ad015", time.Minute)
	path := filepath.Join(t.TempDir(), "lockscope.yaml")
	must(t, c.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">s3cret-pw", "%R~*", "-@all", "+scan", "+pttl", "+getrange", "+strlen",
		"+exists", "+type", "+hlen", "+hgetall", "+memory|usage").Err())
	password := filepath.Join(t.TempDir(), "password")
	must(t, os.WriteFile(password, []byte("s3cret-pw"), 0o600))
	o := command(t, "discover", "--redis", "redis://reader:s3cret-pw@"+s.Addr()+"/0", "--pause", "0s", "-o", path)
	o.want(t, exitClean, "ShedLock", `job\-lock:default:*`, "celery-singleton", "SINGLETONLOCK_*", "lockscope", "app:lock:*", "node-redlock", "low",
		"5 keys looked at (all keys)", "is written")
	o.wantNot(t, secretToken, task, "9f86d081", strings.Repeat("x", 60), "s3cret")
	text, err := os.ReadFile(path)
	must(t, err)
	for _, want := range []string{
		`- {prefix: "SINGLETONLOCK_", no_ttl_allowed: true, max_hold: 1d}`, `- {prefix: "job-lock:default:", max_ttl: 30m, max_hold: 30m}`,
		`- {prefix: "app:lock:", max_ttl: 5m`, `# - {prefix: "session:"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "s3cret") {
		t.Errorf("the proposal has a password:\n%s", text)
	}
	command(t, "config", "check", "--connect", path).want(t, exitClean, "ok: 1 groups, 1 servers")
	command(t, "scan", "--config", path, "--confirm-after", "10ms", "--checks", "no_ttl,long_ttl").want(t, exitClean, "1 keys match SINGLETONLOCK_*")
	command(t, "discover", "--redis", s.Addr(), "-o", path).want(t, exitError, "it is there already")
	byUser := filepath.Join(t.TempDir(), "user.yaml")
	command(t, "discover", "--redis", s.Addr(), "--redis-username", "reader", "--redis-password-file", password, "-o", byUser).want(t, exitClean)
	text, err = os.ReadFile(byUser)
	must(t, err)
	if !strings.Contains(string(text), "username: \"reader\"\n    password_file: \""+password) {
		t.Errorf("%s", text)
	}
	command(t, "discover", "--redis", s.Addr(), "--sample", "0").want(t, exitError, "--sample")
	command(t, "discover", "--redis", "127.0.0.1:1").want(t, exitError, "refused")
	command(t, "discover", "--redis", s.Addr(), "--sample", "2").want(t, exitClean, "2 keys looked at (a sample")
}

func TestDiscoverNothing(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	path := filepath.Join(t.TempDir(), "lockscope.yaml")
	command(t, "discover", "--redis", s.Addr(), "-o", path).want(t, exitClean, fmt.Sprintf("%s: 0 keys looked at", s.Addr()), "no lock of any library")
	command(t, "config", "check", path).want(t, exitClean, "ok")
}
