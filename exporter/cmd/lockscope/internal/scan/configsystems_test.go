package scan

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestScanConfigOfSystems: a group has prefixes and limits of its own, flags win over them, exclusions hold, and what
// was not read names fields of the file.
func TestScanConfigOfSystems(t *testing.T) {
	t.Parallel()
	c, client := cmdtest.Etcd(t, 1)
	cmdtest.Hold(t, cmdtest.EtcdLocker(t, client, "etcd-1"), "order")
	put(t, client, "/app/leak")
	put(t, client, "/app/legacy")
	path := cmdtest.ConfigFile(t, fmt.Sprintf(`
groups: [{name: jobs, etcd: [%q], prefixes: [/app/, /none/], max_hold: 1ms}]
exclusions: [{pattern: "/app/legacy", until: 2999-12-31, reason: OPS-1}]
throttle: {confirm_after: 10ms}
`, c.Members[0].Endpoint()))
	o := command(t, "scan", "--config", path)
	o.Want(t, ui.ExitFindings, "BACKEND  GROUP", "etcd     jobs   no_ttl", "/app/leak", "held_too_long", "lock:order/",
		"1 finding is excluded until 3000-01-01 00:00 UTC: jobs: /app/legacy", "jobs: 127.0.0.1",
		"no key begins with /none/: check etcd_prefix and prefixes, or set allow_empty: true")
	o.WantNot(t, "--")
	o = command(t, "scan", "--config", path, "--max-hold", "1h", "--prefix", "/app/leak", "-o", "json")
	var d report.Document
	o.Decode(t, &d)
	if len(d.Findings) != 1 || d.Findings[0].Key != "/app/leak" || d.Findings[0].Group != "jobs" {
		t.Errorf("flags do not win over the group: %+v", d.Findings)
	}
	limits := cmdtest.ConfigFile(t, "max_hold: 1ms\nthrottle: {confirm_after: 10ms}\n")
	command(t, "scan", "--config", limits, "--etcd", client.Endpoints()[0]).Want(t, ui.ExitFindings, "held_too_long")
}
