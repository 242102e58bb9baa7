package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// binaryReloads: a running serve reads its file again on SIGHUP, keeps the old configuration if the new file is bad,
// and follows a rotated password.
func binaryReloads(t *testing.T, bin string) {
	servers := locktest.Servers(t, 2)
	first, second := cmdtest.Admin(t, servers[0]), cmdtest.Admin(t, servers[1])
	cmdtest.Must(t, first.ConfigSet(t.Context(), "requirepass", "0ld-s3cret").Err())
	cmdtest.Set(t, second, "lock:leak", "v", 0)
	path := cmdtest.ConfigFile(t, "")
	password := filepath.Join(filepath.Dir(path), "password")
	write := func(file, text string) {
		t.Helper()
		cmdtest.Must(t, os.WriteFile(file+".new", []byte(text), 0o600))
		cmdtest.Must(t, os.Rename(file+".new", file))
	}
	one := fmt.Sprintf("groups:\n- {name: one, redis: [%q], password_file: password}\n", servers[0].Addr())
	rest := "allow_empty: true\nthrottle: {confirm_after: 10ms}\n"
	write(password, "0ld-s3cret")
	write(path, one+rest)
	p := start(t, bin, "serve", "--config", path, "--interval", "200ms", "--web.listen-address", "127.0.0.1:0")
	metrics := func() string { _, body := cmdtest.Get(t, p.url()+"/metrics"); return body }
	shows := func(what, text string) {
		t.Helper()
		cmdtest.Eventually(t, what, func() bool { return strings.Contains(metrics(), text) })
	}
	up := func(i int) string {
		return fmt.Sprintf("distributed_lock_scanner_up{group=%q,lock_node=%q} 1", []string{"one", "two"}[i],
			servers[i].Addr())
	}
	shows("the first group", up(0))
	shows("no reload yet", "distributed_lock_scanner_config_last_reload_successful 1")

	write(path, one+fmt.Sprintf("- {name: two, redis: [%q]}\n", servers[1].Addr())+rest)
	cmdtest.Must(t, p.Signal(syscall.SIGHUP))
	shows("the second group", up(1))
	shows("its leak", fmt.Sprintf("distributed_lock_scanner_leaked_locks{lock_node=%q} 1", servers[1].Addr()))
	if text := metrics(); !strings.Contains(text, up(0)) {
		t.Errorf("the first group, which is the same, begins anew:\n%s", text)
	}

	write(path, "max_tll: 1h\n")
	cmdtest.Must(t, p.Signal(syscall.SIGHUP))
	shows("a bad file", "distributed_lock_scanner_config_last_reload_successful 0")
	if text := metrics(); !strings.Contains(text, up(0)) || !strings.Contains(text, up(1)) ||
		!strings.Contains(p.Log(), "did you mean max_ttl?") {
		t.Errorf("the old configuration is not kept, or nothing is said:\n%s", p.Log())
	}

	write(path, one+rest)
	cmdtest.Must(t, p.Signal(syscall.SIGHUP))
	cmdtest.Eventually(t, "the second group is gone", func() bool {
		return !strings.Contains(metrics(), servers[1].Addr())
	})
	shows("a good file", "distributed_lock_scanner_config_last_reload_successful 1")

	cmdtest.Must(t, first.Do(t.Context(), "CONFIG", "SET", "requirepass", "n3w-s3cret").Err())
	cmdtest.Must(t, first.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
	shows("the old password", strings.TrimSuffix(up(0), "1")+"0")
	write(password, "n3w-s3cret")
	shows("the new password", up(0))
	o := p.terminate()
	o.Want(t, ui.ExitClean, "password changed")
	o.WantNot(t, "s3cret")
}
