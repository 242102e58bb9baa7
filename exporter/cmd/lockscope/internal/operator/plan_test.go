package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/repair"
)

// readPlan reads a plan file.
func readPlan(t *testing.T, path string) repair.Plan {
	t.Helper()
	file, err := os.Open(path)
	cmdtest.Must(t, err)
	defer file.Close()
	p, err := repair.Read(file)
	cmdtest.Must(t, err)
	return p
}

// TestPlanThenApply repairs without a daemon.
func TestPlanThenApply(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	file, log := filepath.Join(t.TempDir(), "plan.json"), filepath.Join(t.TempDir(), "audit.log")
	cmdtest.Set(t, c, "lock:ours\n", cmdtest.Ours, 0)
	cmdtest.Set(t, c, "lock:constant", "1", 0)
	cmdtest.Set(t, c, "lock:long", "8Q5xLzCgV2rEJwJ7yYtSIA==", 100*time.Hour)
	plan := []string{"repair", "plan", "--confirm-after", "10ms", "--redis", s.Addr(), "--action", "delete",
		"--operator",
		"ada", "--out", file}
	o := command(t, plan...)
	o.Want(t, ui.ExitClean, `delete  no_ttl  `+s.Addr()+`  "lock:ours\n"  never  worker-7/42`, "NOT PLANNED BECAUSE",
		"may be the same for every owner", "1 key to repair, 1 finding left out; by ada", "lockscope repair apply "+
			file)
	o.WantNot(t, cmdtest.SecretToken, "lock:long")
	p := readPlan(t, file)
	if text, _ := os.ReadFile(file); strings.Contains(string(text), cmdtest.SecretToken) || len(p.Steps) != 1 ||
		p.Operator != "ada" {
		t.Errorf("%s", text)
	}
	command(t, plan...).Want(t, ui.ExitError, "--out", "exists") // a plan is never overwritten

	apply := func(args ...string) cmdtest.Outcome {
		return command(t, append([]string{"repair", "apply", file, "--redis", s.Addr(), "--operator", "bob"},
			args...)...)
	}
	apply().Want(t, ui.ExitFindings, "outcome=refused", "wait another", "1 refused")
	apply("--min-age", "1ms").Want(t, ui.ExitClean, "outcome=would_do", "dry run", "1 would be")
	young := apply("--yes", "--audit-log", log)
	young.Want(t, ui.ExitFindings, "too young to be repaired")
	young.WantNot(t, "outcome=done")
	if n := c.DBSize(t.Context()).Val(); n != 3 {
		t.Errorf("%d keys are left of 3", n)
	}
	apply("--min-age", "1ms", "--yes", "--audit-log", log).Want(t, ui.ExitClean, "outcome=done", "1 done")
	apply("--min-age", "1ms", "--yes").Want(t, ui.ExitClean, "outcome=gone", "1 gone")
	if c.Exists(t.Context(), "lock:ours\n").Val() != 0 || c.DBSize(t.Context()).Val() != 2 {
		t.Errorf("left: %q", c.Keys(t.Context(), "*").Val())
	}
	text, err := os.ReadFile(log)
	cmdtest.Must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	who := ` operator="bob" plan=` + p.ID + " identity=" + p.Steps[0].Identity + " node=" + s.Addr() +
		` key="lock:ours\n" class=no_ttl holder="worker-7/42" ttl=never action="delete"`
	if len(lines) != 4 || !strings.HasSuffix(lines[2], " intent"+who) ||
		!strings.HasSuffix(lines[3], " repair"+who+" outcome=done") ||
		strings.Contains(string(text), cmdtest.SecretToken) {
		t.Errorf("the audit log:\n%s", text)
	}
	if _, err := os.Stat(file + ".audit"); err != nil { // the log of the run without --audit-log
		t.Error(err)
	}
}

// TestPlanMeetsItsEnd: a plan that was edited, is for other servers, or cannot be logged.
func TestPlanMeetsItsEnd(t *testing.T) {
	servers := locktest.Servers(t, 2)
	c := cmdtest.Admin(t, servers[0])
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.json")
	cmdtest.Set(t, c, "lock:a", cmdtest.Ours, 0)
	command(t, "repair", "plan", "--confirm-after", "10ms", "--redis", servers[0].Addr(), "--out", file).Want(t,
		ui.ExitClean, "expire=1h0m0s  no_ttl")
	text, err := os.ReadFile(file)
	cmdtest.Must(t, err)
	apply := func(file, addr string, args ...string) cmdtest.Outcome {
		return command(t, append([]string{"repair", "apply", file, "--redis", addr, "--min-age", "1ms", "--yes"},
			args...)...)
	}
	edited := filepath.Join(dir, "edited.json")
	cmdtest.Must(t, os.WriteFile(edited, []byte(strings.Replace(string(text), "expire=1h0m0s", "delete", 1)), 0o600))
	apply(edited, servers[0].Addr()).Want(t, ui.ExitError, "so it was changed: make a new plan")
	apply(file, servers[1].Addr()).Want(t, ui.ExitError, "it is for "+servers[0].Addr())
	apply(file, cmdtest.Addrs(servers...)).Want(t, ui.ExitError, "it is for "+servers[0].Addr())
	apply(file, servers[0].Addr(), "--audit-log", filepath.Join(dir, "missing", "log")).Want(t, ui.ExitError,
		"--audit-log")
	if _, err := os.Stat("/dev/full"); err == nil { // on Linux opening succeeds and writing fails
		apply(file, servers[0].Addr(), "--audit-log", "/dev/full").Want(t, ui.ExitError, "stopped repairing", "0 done",
			"1 failed or not tried")
	}
	commandWith(t, []string{"LOCKSCOPE_YES=true", "LOCKSCOPE_MIN_AGE=0s"}, "", "repair", "apply", file, "--redis",
		servers[0].Addr()).
		Want(t, ui.ExitFindings, "ignored LOCKSCOPE_YES", "ignored LOCKSCOPE_MIN_AGE",
			"outcome=refused")
	if ttl := c.PTTL(t.Context(), "lock:a").Val(); ttl != -1 {
		t.Errorf("TTL %v: it was repaired all the same", ttl)
	}
	cmdtest.Set(t, c, "lock:a", strings.Replace(cmdtest.Ours, "0", "1", 1), 0) // another holder
	apply(file, servers[0].Addr()).Want(t, ui.ExitFindings, "outcome=changed", "1 changed")
	command(t, "repair", "plan", "--confirm-after", "10ms", "--redis", cmdtest.Addrs(servers...), "--checks",
		"no_ttl,orphan", "--out", filepath.Join(dir, "gaps.json")).
		Want(t, ui.ExitIncomplete, "INCOMPLETE: orphans_unproved", "1 key to repair")
}

// TestPlanSaysWhatMayBeReused, and leaves out the lease of a holder that renews it.
func TestPlanSaysWhatMayBeReused(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := cmdtest.Admin(t, s)
	file := filepath.Join(t.TempDir(), "plan.json")
	cmdtest.Set(t, c, "lock:redsync", "8Q5xLzCgV2rEJwJ7yYtSIA==", 0)
	cmdtest.Set(t, c, "lock:uuid", "8743c9c0-0795-4907-87fd-6c719a6b4586", 0)
	cmdtest.Set(t, c, "lock:ours", cmdtest.Ours, 10*time.Second) // since 2025
	command(t, "repair", "plan", "--confirm-after", "10ms", "--redis", s.Addr(), "--classes", "no_ttl,held_too_long",
		"--action", "delete", "--out", file).Want(t, ui.ExitClean, "MAY BE REUSED", "1 key with a value that its process may",
		"2 keys to repair, 1 finding left out", "lockscope revoke", "never  unnamed, never expires  ")
	for _, step := range readPlan(t, file).Steps {
		if step.Kept != (step.Key == "lock:uuid") || step.Kept != (step.UnwrittenUntil > 0) {
			t.Errorf("%+v", step)
		}
	}
}
