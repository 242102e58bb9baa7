package config_test

import (
	"fmt"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/config"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/scan"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestConfigErrors name the line and show no secret.
func TestConfigErrors(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	for name, test := range map[string]struct{ text, says string }{
		"typo": {"max_tll: 1h", "lockscope.yaml:1: unknown name \"max_tll\": did you mean max_ttl?"},
		"two nodes": {fmt.Sprintf("groups: [{name: a, redis: [%q]}, {name: b, redis: [%q]}]", s.Addr(), s.Addr()),
			"groups a and b both have the server " + s.Addr()},
		"password": {"groups:\n- name: a\n  redis: [h:1]\n  password_file: missing",
			"lockscope.yaml:2: groups[0]: password_file: open"},
		"URL": {"groups:\n- name: a\n  redis: ['redis://u:s3cr3t@h:x1']",
			"lockscope.yaml:3: groups[0].redis[0]: the URL is not a server address"},
		"webhook": {"groups: [{name: a, redis: ['h:1']}]\nnotify: {webhooks: [{url: 'ftp://h/s3cr3t'}]}",
			"notify.webhooks[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{{"scan", "--config"}, {"config", "check"}} {
				o := command(t, append(args, cmdtest.ConfigFile(t, test.text))...)
				o.Want(t, ui.ExitError, test.says)
				o.WantNot(t, "s3cr3t")
			}
		})
	}
	command(t, "scan", "--config", "/nonexistent/file").Want(t, ui.ExitError, "--config: open")
}

func TestConfigCheck(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	path := cmdtest.ConfigFile(t, fmt.Sprintf("groups: [{name: a, redis: [%q]}, {name: b, redis: ['127.0.0.1:1']}]\n"+
		"exclusions: [{pattern: 'lock:*', until: 2020-01-01, reason: OPS-1}]\n", s.Addr()))
	command(t, "config", "check", path).Want(t, ui.ExitClean,
		"ok: 2 groups, 2 servers; an exclusion has expired: lock:*")
	o := command(t, "config", "check", "--connect", path)
	o.Want(t, ui.ExitError, "group b: 127.0.0.1:1", "refused")
	o.WantNot(t, "group a")
	command(t, "config", "check", "--connect", cmdtest.ConfigFile(t,
		fmt.Sprintf("groups: [{name: a, redis: [%q]}]", s.Addr()))).Want(t, ui.ExitClean, "ok")
	command(t, "config", "check", "--connect", cmdtest.ConfigFile(t, "groups: [{name: a, etcd: ['127.0.0.1:1']}]")).Want(t,
		ui.ExitError, "group a: etcd 127.0.0.1:1", "this machine can reach it")
	command(t, "config", "check").Want(t, ui.ExitError, "takes one file")
	command(t, "config", "check", cmdtest.ConfigFile(t, "max_tll: 1h\ninterval: never\n")).Want(t, ui.ExitError,
		":1: unknown name", ":2: interval: not a duration")
	command(t, "config", "schema").Want(t, ui.ExitClean, `"max_ttl"`, "json-schema.org")
}

// lockscope has the commands under test.
var lockscope = cmdtest.Of(config.Command, scan.Command)

func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return lockscope.Command(t, args...)
}
