package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestDiscover names the libraries, shows no value, and suggests a configuration that scan accepts.
func TestDiscover(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	const task = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	cmdtest.Set(t, c, "job-lock:default:nightly", "ADDED:"+time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+
		"@batch-7",
		9*time.Minute)
	cmdtest.Set(t, c, "SINGLETONLOCK_d41d8cd98f00b204e9800998ecf8427e", task, 0)
	cmdtest.Set(t, c, "app:lock:1", cmdtest.Ours, time.Minute)
	cmdtest.Set(t, c, "app:lock:2", cmdtest.Ours, time.Minute)
	cmdtest.Set(t, c, "invoice:"+strings.Repeat("x", 100), "9f86d081884c3d659a2feaa0c55ad015", time.Minute)
	path := filepath.Join(t.TempDir(), "lockscope.yaml")
	cmdtest.Must(t, c.Do(t.Context(), "ACL", "SETUSER", "reader", "on", ">s3cret-pw", "%R~*", "-@all", "+scan", "+pttl",
		"+getrange", "+strlen", "+exists", "+type", "+hlen", "+hgetall", "+memory|usage").Err())
	password := filepath.Join(t.TempDir(), "password")
	cmdtest.Must(t, os.WriteFile(password, []byte("s3cret-pw"), 0o600))
	o := command(t, "discover", "--redis", "redis://reader:s3cret-pw@"+s.Addr()+"/0", "--pause", "0s", "--out", path)
	o.Want(t, ui.ExitClean, "ShedLock", `job\-lock:default:*`, "celery-singleton", "SINGLETONLOCK_*", "lockscope",
		"app:lock:*", "node-redlock", "low", "looked at 5 keys (all keys)", "wrote "+path)
	o.WantNot(t, cmdtest.SecretToken, task, "9f86d081", strings.Repeat("x", 60), "s3cret")
	text, err := os.ReadFile(path)
	cmdtest.Must(t, err)
	for _, want := range []string{
		`- {prefix: "SINGLETONLOCK_", no_ttl_allowed: true, max_hold: 1d}`,
		`- {prefix: "job-lock:default:", max_ttl: 30m, max_hold: 30m}`,
		`- {prefix: "app:lock:", max_ttl: 5m`, `# - {prefix: "invoice:"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "s3cret") {
		t.Errorf("the proposal has a password:\n%s", text)
	}
	command(t, "config", "check", "--connect", path).Want(t, ui.ExitClean, "ok: 1 group, 1 server")
	command(t, "scan", "--config", path, "--confirm-after", "10ms", "--checks", "no_ttl,long_ttl").Want(t,
		ui.ExitClean,
		"1 key matches SINGLETONLOCK_*")
	command(t, "discover", "--redis", s.Addr(), "--out", path).Want(t, ui.ExitError, "the file exists")
	byUser := filepath.Join(t.TempDir(), "user.yaml")
	command(t, "discover", "--redis", s.Addr(), "--redis-username", "reader", "--redis-password-file", password, "--out",
		byUser).Want(t, ui.ExitClean)
	text, err = os.ReadFile(byUser)
	cmdtest.Must(t, err)
	if !strings.Contains(string(text), "username: \"reader\"\n    password_file: \""+password) {
		t.Errorf("%s", text)
	}
	command(t, "discover", "--redis", s.Addr(), "--sample", "0").Want(t, ui.ExitError, "--sample")
	command(t, "discover", "--redis", "127.0.0.1:1").Want(t, ui.ExitError, "refused")
	command(t, "discover", "--redis", s.Addr(), "--sample", "2").Want(t, ui.ExitClean, "looked at 2 keys (a sample")
}

func TestDiscoverNothing(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	path := filepath.Join(t.TempDir(), "lockscope.yaml")
	command(t, "discover", "--redis", s.Addr(), "--out", path).Want(t, ui.ExitClean,
		fmt.Sprintf("%s: looked at 0 keys", s.Addr()), "found no lock of a known library")
	command(t, "config", "check", path).Want(t, ui.ExitClean, "ok")
}
