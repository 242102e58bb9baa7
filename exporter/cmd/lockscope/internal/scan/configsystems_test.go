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

// TestScanConfigOfSystemsRefuses before it connects, with the line and a remedy in the words of the file.
func TestScanConfigOfSystemsRefuses(t *testing.T) {
	for name, test := range map[string]struct{ text, says string }{
		"endpoint": {"groups:\n- name: a\n  etcd: ['http://u:s3cr3t@h:1']",
			"lockscope.yaml:2: groups[0]: etcd endpoint 1 is not of the form"},
		"user of an endpoint": {"groups: [{name: a, etcd: ['http://u:s3cr3t@h:1']}]", "Name the user with username"},
		"server":              {"groups: [{name: a, zookeeper: [h]}]", "ZooKeeper server 1 is not of the form host:port"},
		"root":                {"groups: [{name: a, zookeeper: ['h:1'], zookeeper_root: x}]", "zookeeper_root is not a path"},
		"secret": {"groups: [{name: a, zookeeper: ['h:1'], zookeeper_auth_file: x}]",
			"groups[0]: zookeeper_auth_file: open"},
		"authority": {"groups: [{name: a, postgres: 'postgres://h/d', tls: {ca: missing}}]", "groups[0]: tls.ca: open"},
		"two of a name": {"groups: [{name: a, etcd: ['h:1']}, {name: b, etcd: ['h:1']}]",
			"groups a and b both have the server h:1: list it once"},
	} {
		o := command(t, "scan", "--config", cmdtest.ConfigFile(t, test.text))
		t.Run(name, func(t *testing.T) {
			o.Want(t, ui.ExitError, test.says)
			o.WantNot(t, "s3cr3t", "--")
		})
	}
	path := cmdtest.ConfigFile(t, "groups: [{name: a, etcd: ['127.0.0.1:1']}]\n")
	command(t, "scan", "--config", path, "--etcd", "h:1").Want(t, ui.ExitError, "both in --config and by --postgres")
	command(t, "scan", "--config", path, "--redis", "h:1").Want(t, ui.ExitError, "both in --config and by --redis")
	command(t, "scan", "--config", path, "--repair", "delete").Want(t, ui.ExitError, "is for Redis only")
	command(t, "scan", "--config", path, "--pattern", "a*").Want(t, ui.ExitError, "use --prefix")
	command(t, "scan", "--config", path, "--state", "redis").Want(t, ui.ExitError, "name a file")
}
