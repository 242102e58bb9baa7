package main

import (
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestBadInputIsRefused before any server is asked, and the error repeats no secret.
func TestBadInputIsRefused(t *testing.T) {
	const secret = "s3cr3t"
	const nowhere = "--redis=127.0.0.1:1"
	for _, c := range []struct {
		args string
		says string
	}{
		{"scan", "--redis URL"},
		{"doctr", "did you mean doctor?"},
		{"doctr --redis h:1", "did you mean doctor?"},
		{"sacn " + nowhere, "did you mean scan?"},
		{"config chek", "did you mean check?"},
		{"list --redsi=redis://u:" + secret + "@h:1", "did you mean --redis?"},
		{"list --redis h:1 --nonsense", `list the flags with "lockscope help flags list"`},
		{"config check --conect x", "did you mean --connect?"},
		{"run job -c " + secret, "sh -c"},
		{"run job -nc " + secret, "sh -c"},
		{"list -Z", "unknown shorthand flag"},
		{"redis://u:" + secret + "@h:1", "a command must come before"},
		{"scan redis://u:" + secret + "@h:1", "flags only"},
		{"scan --redis redis://u:" + secret + "@h:63x9", "--redis: Redis URL 1"},
		{"scan --redis u:" + secret + "@h:1", "Redis URL 1"},
		{"scan --redis http://u:" + secret + "@h:1", "Redis URL 1"},
		{"scan --redis-file /nonexistent/file", "--redis-file"},
		{"scan --redis-password-file /nonexistent/file " + nowhere, "--redis-password-file"},
		{"scan --tls-ca /nonexistent/file --redis rediss://h:1", "--tls-ca"},
		{"scan --tls-insecure-skip-verify " + nowhere, "rediss://"},
		{"scan --cluster --sentinel-master m " + nowhere, "--sentinel-master"},
		{"scan --redis h:1,h:1", "node"},
		{"scan --max-ttl 5 " + nowhere, "--max-ttl"},
		{"scan --max-ttl -5s " + nowhere, "--max-ttl -5s"},
		{"scan --confirm-after 10m " + nowhere, "--confirm-after 10m0s"},
		{"scan --page-size 0 " + nowhere, "--page-size 0"},
		{"scan --prefix= " + nowhere, "--pattern"},
		{"scan --checks nonsense " + nowhere, "no_ttl, held_too_long"},
		{"scan --fail-on nonsense " + nowhere, "--fail-on"},
		{"scan --fail-on none,no_ttl " + nowhere, "--fail-on"},
		{"scan --output yaml " + nowhere, "table or json"},
		{"scan --pushgateway http://u:" + secret + "@ " + nowhere, "--pushgateway"},
		{"scan --pushgateway ftp://u:" + secret + "@h " + nowhere, "--pushgateway"},
		{"scan --webhook ftp://h/" + secret + " " + nowhere, "notify"},
		{"scan --alertmanager http://u:" + secret + "@ " + nowhere, "notify"},
		{"scan --repair expire=1 " + nowhere, "--repair"},
		{"scan --repair " + "remove " + nowhere, "--repair"},
		{"scan --yes " + nowhere, "--repair"},
		{"repair frobnicate", `use "lockscope repair plan"`},
		{"repair plan redis://u:" + secret + "@h:1 --out x", "flags only"},
		{"repair plan " + nowhere, "--out"},
		{"repair plan --action remove --out /nonexistent/plan " + nowhere, "--action"},
		{"repair plan --classes x --out /nonexistent/plan " + nowhere, "--classes"},
		{"repair apply " + nowhere, "takes one plan"},
		{"repair apply redis://u:" + secret + "@h:1 plan.json", "takes one plan"},
		{"repair apply /nonexistent/plan " + nowhere, "/nonexistent/plan"},
		{"repair apply /dev/null " + nowhere, "the plan cannot be carried out"},
		{"scan --repair delete --repair-classes x " + nowhere, "--repair-classes"},
		{"scan --replica h:1 --cluster " + nowhere, "--replica"},
		{"scan --replica h:1,h:2 " + nowhere, "--replica"},
		{"scan --log.level loud " + nowhere, "--log.level"},
		{"scan --nonsense " + nowhere, "--nonsense"},
		{"list --sort size " + nowhere, "--sort"},
		{"list --limit -1 " + nowhere, "--limit"},
		{"list --prefix= " + nowhere, "--pattern"},
		{"doctor --for 0s " + nowhere, "--for"},
		{"doctor --prefix= " + nowhere, "--prefix"},
		{"run redis://u:" + secret + "@h:1 -- true", "--redis"},
		{"run job redis://u:" + secret + "@h:1", "NAME -- COMMAND"},
		{"run job " + nowhere + " -E 256 -- true", "--conflict-exit-code"},
		{"run job " + nowhere + " --pushgateway ftp://u:" + secret + "@h -- true", "--pushgateway"},
		{"run job --postgres postgres://u:" + secret + "@h:x -- true", "--postgres"},
		{"elect job -- true", "--redis"},
		{"elect job " + nowhere + " --max-backoff 1ms -- true", "--max-backoff"},
		{"serve --interval 0s " + nowhere, "--interval 0s"},
		{"serve --export-leaked-keys 21 " + nowhere, "between 0 and 20"},
		{"serve --waits-every -1s " + nowhere, "--waits-every"},
		{"serve --pages http://u:" + secret + "@h/ " + nowhere, "--pages"},
		{"serve --web.config.file /nonexistent/file " + nowhere, "web"},
	} {
		t.Run(c.args, func(t *testing.T) {
			o := command(t, strings.Fields(c.args)...)
			o.Want(t, ui.ExitError, c.says)
			o.WantNot(t, secret)
			if o.Out != "" {
				t.Errorf("stdout is not empty: %s", o.Out)
			}
			o.WantNot(t, "lockscope: ->") // no server was asked
		})
	}
}

func TestVariables(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	cmdtest.Set(t, c, "lock:leak", "v", 0)
	env := []string{"LOCKSCOPE_REDIS=" + s.Addr(), "LOCKSCOPE_CONFIRM_AFTER=10ms", "LOCKSCOPE_PREFIX=other:",
		"LOCKSCOPE_ALLOW_EMPTY=true", "LOCKSCOPE_LOG_LEVEL=error"}
	commandWith(t, env, "", "scan").Want(t, ui.ExitClean)
	commandWith(t, env, "", "scan", "--prefix", "lock:").Want(t, ui.ExitFindings)
	typo := commandWith(t, append(env, "LOCKSCOPE_PREFX=x", "LOCKSCOPE_SERVICE_HOST=10.0.0.1"), "", "scan")
	typo.Want(t, ui.ExitClean, "unknown variable LOCKSCOPE_PREFX: did you mean LOCKSCOPE_PREFIX?")
	typo.WantNot(t, "LOCKSCOPE_SERVICE_HOST")
	// Secrets have variables without flags. These must not be taken for typos.
	commandWith(t, append(env, "LOCKSCOPE_SENTINEL_PASSWORD=x"), "", "scan").WantNot(t, "SENTINEL")
	bad := commandWith(t, append(env, "LOCKSCOPE_MAX_TTL=s3cr3t"), "", "scan")
	bad.Want(t, ui.ExitError, "LOCKSCOPE_MAX_TTL")
	bad.WantNot(t, "s3cr3t")
	both := commandWith(t, append(env, "LOCKSCOPE_REDIS_PASSWORD=s3cr3t"), "", "scan", "--redis-password-file",
		"/dev/null")
	both.Want(t, ui.ExitError, "use one")
}
