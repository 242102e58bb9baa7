package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// configFile writes a file beside others in a folder of its own.
func configFile(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lockscope.yaml")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestScanConfig sweeps two groups that have nothing to do with each other, with policies
// and exclusions, and says what is whose.
func TestScanConfig(t *testing.T) {
	servers := locktest.Servers(t, 4)
	a, b := admin(t, servers[0]), admin(t, servers[3])
	set(t, a, "lock:orphan", ours, time.Minute)
	for _, s := range servers[1:3] {
		set(t, admin(t, s), "lock:fine", "v", time.Minute)
	}
	set(t, a, "lock:report:1", "v", 5*time.Hour)
	set(t, b, "job-lock:default:x", "v", 0)
	set(t, b, "job-lock:default:legacy", "v", 0)
	set(t, b, "lock:unseen", "v", 0)
	path := configFile(t, fmt.Sprintf(`
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
	o.want(t, exitFindings, "GROUP", "orders  orphan", "batch   no_ttl", "1 findings are excluded until 3000-01-01 00:00 UTC: batch: job-lock:*:legacy (OPS-1)",
		"EXCLUSION ENDED 2020-01-02 00:00 UTC: batch: job-lock:*:x (OPS-2)", `1 keys match lock:report:*`)
	o.wantNot(t, "lock:unseen", "long_ttl")

	var r scanner.Document
	flags := command(t, "scan", "-c", path, "--checks", "no_ttl", "--prefix", "lock:", "-o", "json", "--fail-on", "none")
	flags.want(t, exitClean)
	flags.decode(t, &r)
	if len(r.Nodes) != 4 || r.Nodes[3].Group != "batch" || len(r.Findings) != 1 || r.Findings[0].Key != "lock:unseen" || r.Findings[0].Group != "batch" {
		t.Errorf("flags do not win over the file: %+v", r)
	}
	command(t, "scan", "--config", path, "--redis", servers[0].Addr()).want(t, exitError, "both --config and --redis")
	commandWith(t, []string{"LOCKSCOPE_CONFIG=" + path, "LOCKSCOPE_REDIS=" + servers[0].Addr()}, "", "scan").want(t, exitError, "both --config and --redis")
	commandWith(t, []string{"LOCKSCOPE_CONFIG=" + path, "REDIS_URL=redis://127.0.0.1:1"}, "", "scan").want(t, exitFindings)
}

// TestUnrelatedServers of one group are swept each by itself: with redlock: false no lock is
// an orphan.
func TestUnrelatedServers(t *testing.T) {
	servers := locktest.Servers(t, 3)
	for i, s := range servers {
		set(t, admin(t, s), fmt.Sprintf("lock:%d", i), strings.Replace(ours, "00", fmt.Sprintf("%d0", i), 1), time.Minute)
	}
	text := fmt.Sprintf("groups: [{name: a, redis: [%q, %q, %q], redlock: %%t}]\nchecks: [orphan]\nthrottle: {confirm_after: 10ms}\n",
		servers[0].Addr(), servers[1].Addr(), servers[2].Addr())
	command(t, "scan", "--config", configFile(t, fmt.Sprintf(text, true))).want(t, exitFindings, "orphan")
	o := command(t, "scan", "--config", configFile(t, fmt.Sprintf(text, false)))
	o.want(t, exitClean, servers[2].Addr())
}

// TestGroupsInMetrics: each group of a serve has a quorum of its own, so a node says of which it is.
func TestGroupsInMetrics(t *testing.T) {
	servers := locktest.Servers(t, 2)
	path := configFile(t, fmt.Sprintf("groups: [{name: orders, redis: [%q]}, {name: stock, redis: [%q]}]\n", servers[0].Addr(), servers[1].Addr()))
	must(t, servers[1].Kill())
	url, _ := serving(t, "--config", path)
	want := []string{
		fmt.Sprintf(`distributed_lock_scanner_up{group="orders",lock_node=%q} 1`, servers[0].Addr()),
		fmt.Sprintf(`distributed_lock_scanner_up{group="stock",lock_node=%q} 0`, servers[1].Addr()),
	}
	eventually(t, strings.Join(want, " and "), func() bool {
		_, body := get(t, url+"/metrics")
		return strings.Contains(body, want[0]) && strings.Contains(body, want[1])
	})
}

// TestConfigWithoutServers has flags name them, and the file the rest.
func TestConfigWithoutServers(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	set(t, admin(t, s), "lock:a", "v", 2*time.Hour)
	path := configFile(t, "max_ttl: 1h\nthrottle: {confirm_after: 10ms}\n")
	command(t, "scan", "-c", path, "-r", s.Addr()).want(t, exitFindings, "long_ttl")
	command(t, "scan", "-c", path, "-r", s.Addr(), "--max-ttl", "3h").want(t, exitClean)
	command(t, "scan", "-c", path).want(t, exitError, "no Redis server is named")
}

// TestConfigErrors name the line, and no secret.
func TestConfigErrors(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	for name, test := range map[string]struct{ text, says string }{
		"typo":      {"max_tll: 1h", "lockscope.yaml:1: there is no \"max_tll\" here: is max_ttl meant?"},
		"two nodes": {fmt.Sprintf("groups: [{name: a, redis: [%q]}, {name: b, redis: [%q]}]", s.Addr(), s.Addr()), "groups a and b both have the server " + s.Addr()},
		"password":  {"groups:\n- name: a\n  redis: [h:1]\n  password_file: missing", "lockscope.yaml:2: groups[0]: password_file: open"},
		"URL":       {"groups:\n- name: a\n  redis: ['redis://u:s3cr3t@h:x1']", "lockscope.yaml:3: groups[0].redis[0]: it is not of the form"},
		"webhook":   {"groups: [{name: a, redis: ['h:1']}]\nnotify: {webhooks: [{url: 'ftp://h/s3cr3t'}]}", "notify.webhooks[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{{"scan", "--config"}, {"config", "check"}} {
				o := command(t, append(args, configFile(t, test.text))...)
				o.want(t, exitError, test.says)
				o.wantNot(t, "s3cr3t")
			}
		})
	}
	command(t, "scan", "--config", "/nonexistent/file").want(t, exitError, "--config: open")
}

func TestConfigCheck(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	path := configFile(t, fmt.Sprintf("groups: [{name: a, redis: [%q]}, {name: b, redis: ['127.0.0.1:1']}]\n"+
		"exclusions: [{pattern: 'lock:*', until: 2020-01-01, reason: OPS-1}]\n", s.Addr()))
	command(t, "config", "check", path).want(t, exitClean, "ok: 2 groups, 2 servers; an exclusion has ended: lock:*")
	o := command(t, "config", "check", "--connect", path)
	o.want(t, exitError, "group b: 127.0.0.1:1", "refused")
	o.wantNot(t, "group a")
	command(t, "config", "check", "--connect", configFile(t, fmt.Sprintf("groups: [{name: a, redis: [%q]}]", s.Addr()))).want(t, exitClean, "ok")
	command(t, "config", "check").want(t, exitError, "one configuration file")
	command(t, "config", "check", configFile(t, "max_tll: 1h\ninterval: never\n")).want(t, exitError, ":1: there is no", ":2: interval: a duration")
	command(t, "config", "schema").want(t, exitClean, `"max_ttl"`, "json-schema.org")
}
