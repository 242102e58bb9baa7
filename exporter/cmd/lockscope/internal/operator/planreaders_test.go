package operator

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestPlanOfReaders: a plan takes out readers whose time is over and a reader on a minority, and no live one.
func TestPlanOfReaders(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, servers...)
	for _, s := range servers {
		cmdtest.SetReader(t, cmdtest.Admin(t, s), "lock:live", time.Hour/2, time.Hour/2)
	}
	c := cmdtest.Admin(t, servers[0])
	secret := cmdtest.SetReader(t, c, "lock:few", time.Hour/2, time.Hour/2)
	cmdtest.SetReader(t, c, "lock:stays", -time.Hour, 0)
	file, where := filepath.Join(t.TempDir(), "plan.json"), []string{"--redis", cmdtest.Addrs(servers...)}
	o := command(t, append([]string{"repair", "plan", "--confirm-after", "10ms", "--action", "delete", "--classes",
		"no_ttl,orphan", "--out", file}, where...)...)
	o.Want(t, ui.ExitClean, "orphan", "reader of few: its token is on 1 of 3 nodes", "worker-7/42", "no_ttl",
		"reader of stays: its TTL is -1", "2 keys to repair, 0 findings left out")
	o.WantNot(t, secret)
	apply := append([]string{"repair", "apply", file, "--min-age", "0s"}, where...)
	command(t, append(apply, "--yes")...).Want(t, ui.ExitClean, "of 2 keys 2 done")
	command(t, append(apply, "--yes")...).Want(t, ui.ExitClean, "2 gone")
	if n := c.Exists(t.Context(), "lock:few", "lock:stays").Val(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
	for _, s := range servers {
		if n := cmdtest.Admin(t, s).HLen(t.Context(), "lock:live").Val(); n != 1 {
			t.Errorf("%s: the live reader is gone", s.Addr())
		}
	}
}
