package scan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestScanConfig sweeps two independent groups with policies and exclusions. The report names the group of each line.
func TestScanConfig(t *testing.T) {
	servers := locktest.Servers(t, 4)
	a, b := cmdtest.Admin(t, servers[0]), cmdtest.Admin(t, servers[3])
	cmdtest.Set(t, a, "lock:orphan", cmdtest.Ours, time.Minute)
	for _, s := range servers[1:3] {
		cmdtest.Set(t, cmdtest.Admin(t, s), "lock:fine", "v", time.Minute)
	}
	cmdtest.Set(t, a, "lock:report:1", "v", 5*time.Hour)
	cmdtest.Set(t, b, "job-lock:default:x", "v", 0)
	cmdtest.Set(t, b, "job-lock:default:legacy", "v", 0)
	cmdtest.Set(t, b, "lock:unseen", "v", 0)
	path := cmdtest.ConfigFile(t, fmt.Sprintf(`
groups:
  - {name: orders, redis: [%q, %q, %q], redlock: true}
  - name: batch
    redis: [%q]
    patterns: [{name: jobs, prefix: "job-lock:"}]
    exclusions:
      - {pattern: "job-lock:*:legacy", until: 2999-12-31, reason: OPS-1}
      - {pattern: "job-lock:*:x", until: 2020-01-01, reason: OPS-2}
patterns: [{name: reports, pattern: "lock:report:*", max_ttl: 1d}, {prefix: "lock:"}]
checks: [no_ttl, orphan, long_ttl]
throttle: {confirm_after: 10ms}
`, servers[0].Addr(), servers[1].Addr(), servers[2].Addr(), servers[3].Addr()))
	o := command(t, "scan", "--config", path)
	o.Want(t, ui.ExitFindings, "GROUP", "orders  orphan", "batch   no_ttl",
		"1 finding is excluded until 3000-01-01 00:00 UTC: batch: job-lock:*:legacy (OPS-1)",
		"EXCLUSION EXPIRED 2020-01-02 00:00 UTC: batch: job-lock:*:x (OPS-2)", `1 key matches lock:report:*`)
	o.WantNot(t, "lock:unseen", "long_ttl")

	var r report.Document
	flags := command(t, "scan", "-c", path, "--checks", "no_ttl", "--prefix", "lock:", "-o", "json", "--fail-on",
		"none")
	flags.Want(t, ui.ExitClean)
	flags.Decode(t, &r)
	if len(r.Nodes) != 4 || r.Nodes[3].Group != "batch" || len(r.Findings) != 1 || r.Findings[0].Key != "lock:unseen" ||
		r.Findings[0].Group != "batch" {
		t.Errorf("flags do not win over the file: %+v", r)
	}
	command(t, "scan", "--config", path, "--redis", servers[0].Addr()).Want(t, ui.ExitError,
		"both in --config and by --redis")
	commandWith(t, []string{"LOCKSCOPE_CONFIG=" + path, "LOCKSCOPE_REDIS=" + servers[0].Addr()}, "", "scan").Want(t,
		ui.ExitError, "both in --config and by --redis")
	commandWith(t, []string{"LOCKSCOPE_CONFIG=" + path, "REDIS_URL=redis://127.0.0.1:1"}, "", "scan").Want(t,
		ui.ExitFindings)
}

// TestUnrelatedServers of one group are swept separately: with redlock: false no lock is an orphan.
func TestUnrelatedServers(t *testing.T) {
	servers := locktest.Servers(t, 3)
	for i, s := range servers {
		cmdtest.Set(t, cmdtest.Admin(t, s), fmt.Sprintf("lock:%d", i),
			strings.Replace(cmdtest.Ours, "00", fmt.Sprintf("%d0", i), 1), time.Minute)
	}
	text := fmt.Sprintf("groups: [{name: a, redis: [%q, %q, %q], redlock: %%t}]\nchecks: [orphan]\nthrottle: "+
		"{confirm_after: 10ms}\n",
		servers[0].Addr(), servers[1].Addr(), servers[2].Addr())
	command(t, "scan", "--config", cmdtest.ConfigFile(t, fmt.Sprintf(text, true))).Want(t, ui.ExitFindings, "orphan")
	o := command(t, "scan", "--config", cmdtest.ConfigFile(t, fmt.Sprintf(text, false)))
	o.Want(t, ui.ExitClean, servers[2].Addr())
}

// TestConfigWithoutServers: flags name the servers, and the file has the rest.
func TestConfigWithoutServers(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, s), "lock:a", "v", 2*time.Hour)
	path := cmdtest.ConfigFile(t, "max_ttl: 1h\nthrottle: {confirm_after: 10ms}\n")
	command(t, "scan", "-c", path, "-r", s.Addr()).Want(t, ui.ExitFindings, "long_ttl")
	command(t, "scan", "-c", path, "-r", s.Addr(), "--max-ttl", "3h").Want(t, ui.ExitClean)
	command(t, "scan", "-c", path).Want(t, ui.ExitError, "no Redis server given")
}
