package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
)

// binaryReloads has a running serve read its file again on SIGHUP, keep the old one if the
// new one is bad, and follow a password that is rotated.
func binaryReloads(t *testing.T, bin string) {
	servers := locktest.Servers(t, 2)
	first, second := admin(t, servers[0]), admin(t, servers[1])
	must(t, first.ConfigSet(t.Context(), "requirepass", "0ld-s3cret").Err())
	set(t, second, "lock:leak", "v", 0)
	path := configFile(t, "")
	password := filepath.Join(filepath.Dir(path), "password")
	write := func(file, text string) {
		t.Helper()
		must(t, os.WriteFile(file+".new", []byte(text), 0o600))
		must(t, os.Rename(file+".new", file))
	}
	one := fmt.Sprintf("groups:\n- {name: one, redis: [%q], password_file: password}\n", servers[0].Addr())
	rest := "allow_empty: true\nthrottle: {confirm_after: 10ms}\n"
	write(password, "0ld-s3cret")
	write(path, one+rest)
	p := start(t, bin, "serve", "--config", path, "--interval", "200ms", "--web.listen-address", "127.0.0.1:0")
	metrics := func() string { _, body := get(t, p.url()+"/metrics"); return body }
	shows := func(what, text string) {
		t.Helper()
		eventually(t, what, func() bool { return strings.Contains(metrics(), text) })
	}
	up := func(i int) string {
		return fmt.Sprintf("distributed_lock_scanner_up{group=%q,lock_node=%q} 1", []string{"one", "two"}[i], servers[i].Addr())
	}
	shows("the first group", up(0))
	shows("no reload yet", "distributed_lock_scanner_config_last_reload_successful 1")

	write(path, one+fmt.Sprintf("- {name: two, redis: [%q]}\n", servers[1].Addr())+rest)
	must(t, p.Signal(syscall.SIGHUP))
	shows("the second group", up(1))
	shows("its leak", fmt.Sprintf("distributed_lock_scanner_leaked_locks{lock_node=%q} 1", servers[1].Addr()))
	if text := metrics(); !strings.Contains(text, up(0)) {
		t.Errorf("the first group, which is the same, begins anew:\n%s", text)
	}

	write(path, "max_tll: 1h\n")
	must(t, p.Signal(syscall.SIGHUP))
	shows("a bad file", "distributed_lock_scanner_config_last_reload_successful 0")
	if text := metrics(); !strings.Contains(text, up(0)) || !strings.Contains(text, up(1)) || !strings.Contains(p.Log(), "is max_ttl meant?") {
		t.Errorf("the old configuration is not kept, or nothing is said:\n%s", p.Log())
	}

	write(path, one+rest)
	must(t, p.Signal(syscall.SIGHUP))
	eventually(t, "the second group is gone", func() bool { return !strings.Contains(metrics(), servers[1].Addr()) })
	shows("a good file", "distributed_lock_scanner_config_last_reload_successful 1")

	must(t, first.Do(t.Context(), "CONFIG", "SET", "requirepass", "n3w-s3cret").Err())
	must(t, first.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
	shows("the old password", strings.TrimSuffix(up(0), "1")+"0")
	write(password, "n3w-s3cret")
	shows("the new password", up(0))
	o := p.terminate()
	o.want(t, exitClean, "password has changed")
	o.wantNot(t, "s3cret")
}

// TestStampsTell a file that was replaced, removed or written from one that was not.
func TestStampsTell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	s := &sweeping{files: stampsOf([]string{path})}
	if got := s.changed(); got != "" {
		t.Errorf("a file that was never there has changed: %s", got)
	}
	must(t, os.WriteFile(path, []byte("a"), 0o600))
	if got := s.changed(); got != path {
		t.Error("it appeared")
	}
	s.files = s.stampsNow()
	must(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Minute)))
	if got := s.changed(); got != path {
		t.Error("it was written")
	}
}
