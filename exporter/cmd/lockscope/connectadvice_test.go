package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestServersThatCannotBeAsked: each command reports that the server was not read, and the remedy. No command reports
// that nothing was found.
func TestServersThatCannotBeAsked(t *testing.T) {
	cert, key := cmdtest.Certificate(t)
	port := locktest.Port(t)
	plain := locktest.Servers(t, 1, redisproc.WithArgs("--tls-port", fmt.Sprint(port), "--tls-cert-file", cert,
		"--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no"))[0]
	closed := locktest.Servers(t, 1)[0]
	cmdtest.Set(t, cmdtest.Admin(t, plain), "lock:leak", "v", 0)
	cmdtest.Must(t, cmdtest.Admin(t, closed).ConfigSet(t.Context(), "requirepass", "s3cret-pw").Err())
	for name, c := range map[string]struct {
		url  string
		says []string
	}{
		"no password":      {closed.Addr(), []string{"NOAUTH", "set --redis-password-file"}},
		"wrong password":   {"redis://:s3cret-no@" + closed.Addr(), []string{"WRONGPASS", "user or password is wrong"}},
		"no such database": {"redis://" + plain.Addr() + "/99", []string{"DB index is out of range", "no database of that number"}},
		"TLS to plain": {"rediss://" + plain.Addr(),
			[]string{"the server does not speak TLS on this port", "use redis://"}},
		"plain to TLS": {fmt.Sprintf("redis://127.0.0.1:%d", port),
			[]string{"the server speaks TLS on this port", "use rediss://"}},
	} {
		plan := []string{"repair", "plan", "--action", "delete", "--operator", "ada", "--out", t.TempDir() + "/plan"}
		for command, args := range map[string][]string{
			"scan": {"scan", "--confirm-after", "0s"}, "list": {"list"}, "discover": {"discover"}, "init": {"init"},
			"doctor": {"doctor", "--for", "1ms"}, "repair": plan, "explain": {"explain", "lock:leak"},
			"reconfigure": {"reconfigure"},
		} {
			t.Run(name+"/"+command, func(t *testing.T) {
				o := commandWith(t, nil, "", append(args, "--redis", c.url)...)
				o.Want(t, ui.ExitError, c.says...)
				o.WantNot(t, "grant", "s3cret", "  nothing", "no locks", "found no lock", "looked at 0 keys",
					"deadline exceeded")
				if command == "scan" || command == "list" || command == "discover" {
					o.Want(t, ui.ExitError, "not read")
				}
				if strings.Count(o.Out+o.Err, c.says[1]) != 1 {
					t.Errorf("%q is not said once:\n%s%s", c.says[1], o.Out, o.Err)
				}
			})
		}
	}
}

// TestMistakesWithSentinels: the port of a Sentinel without its flag, and a name that no Sentinel knows, are named. No
// right would help.
func TestMistakesWithSentinels(t *testing.T) {
	servers := locktest.Servers(t, 2)
	sentinel, err := redisproc.StartSentinel(t.Context(), servers[0], servers[1])
	cmdtest.Must(t, err)
	t.Cleanup(func() { cmdtest.Must(t, sentinel.Stop()) })
	for _, line := range []string{
		"scan --confirm-after 0s", "list", "discover", "init", "doctor --for 1ms", "run job -n --node-timeout 2s",
		"explain job",
	} {
		for flag, says := range map[string]string{
			"--log.level error":      "--sentinel-master", // the port alone
			"--sentinel-master nope": "no Sentinel watches a master of that name: check --sentinel-master",
		} {
			t.Run(line+" "+flag, func(t *testing.T) {
				args := strings.Fields(line + " --redis " + sentinel.Addr() + " " + flag)
				if strings.HasPrefix(line, "run") {
					args = append(args, "--", "true")
				}
				o := command(t, args...)
				if o.Status == ui.ExitClean || !strings.Contains(o.Out+o.Err, says) {
					t.Errorf("status %d, and not %q:\n%s%s", o.Status, says, o.Out, o.Err)
				}
				if !strings.HasPrefix(line, "doctor") { // which lists all that it lacks
					o.WantNot(t, "grant ")
				}
			})
		}
	}
}

// TestErrorsNameFlags gives each flag for a number or a duration an invalid value. The error names the flag, and no
// option of the Go API.
func TestErrorsNameFlags(t *testing.T) {
	bad := map[string]string{"duration": "-5s", "int": "-5", "stringArray": ""}
	extra := map[string][]string{
		"plan": {"--action", "delete", "--operator", "ada", "--out", t.TempDir() + "/plan"}, "apply": {"plan.json"},
		"serve": {"--web.listen-address", "127.0.0.1:0"},
		"run":   {"job", "--", "true"}, "elect": {"job", "--", "true"},
		"hold":   {"job", "--reason", "a test", "--audit-log", t.TempDir() + "/log"},
		"revoke": {"job", "--reason", "a test", "--audit-log", t.TempDir() + "/log"},
	}
	asked := 0
	root := newRoot(ui.New(nil, nil, nil, nil))
	for _, cmd := range ui.Subcommands(root) {
		if cmd.LocalFlags().Lookup("redis") == nil || cmd.HasSubCommands() {
			continue
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, takes := bad[f.Value.Type()]
			if !takes {
				return
			}
			asked++
			path := strings.Fields(cmd.CommandPath())[1:]
			args := append(append(path, "--redis", "127.0.0.1:1", "--"+f.Name+"="+value), extra[cmd.Name()]...)
			checkNamesFlag(t, cmd, f, args)
		})
	}
	if asked < 30 {
		t.Errorf("%d flags: the check looks at nothing", asked)
	}
}

// optionName matches the name of a Go option.
var optionName = regexp.MustCompile(`\bWith[A-Z]\w*`)

func checkNamesFlag(t *testing.T, cmd *cobra.Command, f *pflag.Flag, args []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var out, errOut strings.Builder
	status := run(ctx, args, nil, strings.NewReader(""), &out, &errOut)
	text := out.String() + errOut.String()
	if optionName.MatchString(text) || strings.Contains(text, "invalid option") {
		t.Errorf("%s --%s: it names an option: %s", cmd.CommandPath(), f.Name, text)
	}
	if status != ui.ExitError || !strings.Contains(text, "--"+f.Name) {
		t.Errorf("%s --%s: exit %d: %s", cmd.CommandPath(), f.Name, status, text)
	}
}
