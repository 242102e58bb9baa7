package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner"
)

// readPlan reads a plan's file.
func readPlan(t *testing.T, path string) scanner.Plan {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	p, err := scanner.ReadPlan(file)
	must(t, err)
	return p
}

// TestPlanThenApply is the way of somebody without a daemon.
func TestPlanThenApply(t *testing.T) {
	s := locktest.Servers(t, 1)[0]
	c := admin(t, s)
	file, log := filepath.Join(t.TempDir(), "plan.json"), filepath.Join(t.TempDir(), "audit.log")
	set(t, c, "lock:ours\n", ours, 0)
	set(t, c, "lock:constant", "1", 0)
	set(t, c, "lock:long", "8Q5xLzCgV2rEJwJ7yYtSIA==", 100*time.Hour)
	plan := []string{"repair", "plan", "--confirm-after", "10ms", "--redis", s.Addr(), "--action", "delete", "--operator", "ada", "-o", file}
	o := command(t, plan...)
	o.want(t, exitClean, `delete  no_ttl  `+s.Addr()+`  "lock:ours\n"  never  worker-7/42`, "NOT PLANNED BECAUSE", "may be the same for every owner",
		"1 keys to repair, 1 findings left out; by ada", "lockscope repair apply "+file)
	o.wantNot(t, secretToken, "lock:long")
	p := readPlan(t, file)
	if text, _ := os.ReadFile(file); strings.Contains(string(text), secretToken) || len(p.Steps) != 1 || p.Operator != "ada" {
		t.Errorf("%s", text)
	}
	command(t, plan...).want(t, exitError, "--out", "exists") // never replaced

	apply := func(args ...string) outcome {
		return command(t, append([]string{"repair", "apply", file, "--redis", s.Addr(), "--operator", "bob"}, args...)...)
	}
	apply().want(t, exitFindings, "outcome=refused", "wait another", "1 refused")
	apply("--min-age", "1ms").want(t, exitClean, "outcome=would_do", "dry run", "1 would be")
	young := apply("--yes", "--audit-log", log)
	young.want(t, exitFindings, "too young to be repaired")
	young.wantNot(t, "outcome=done")
	if n := c.DBSize(t.Context()).Val(); n != 3 {
		t.Errorf("%d keys are left of 3", n)
	}
	apply("--min-age", "1ms", "--yes", "--audit-log", log).want(t, exitClean, "outcome=done", "1 done")
	apply("--min-age", "1ms", "--yes").want(t, exitClean, "outcome=gone", "1 gone")
	if c.Exists(t.Context(), "lock:ours\n").Val() != 0 || c.DBSize(t.Context()).Val() != 2 {
		t.Errorf("left: %q", c.Keys(t.Context(), "*").Val())
	}
	text, err := os.ReadFile(log)
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	who := ` operator="bob" plan=` + p.ID + " identity=" + p.Steps[0].Identity + " node=" + s.Addr() + ` key="lock:ours\n" class=no_ttl holder="worker-7/42" ttl=never action="delete"`
	if len(lines) != 4 || !strings.HasSuffix(lines[2], " intent"+who) || !strings.HasSuffix(lines[3], " repair"+who+" outcome=done") || strings.Contains(string(text), secretToken) {
		t.Errorf("the audit log:\n%s", text)
	}
	if _, err := os.Stat(file + ".audit"); err != nil { // of the run that named none
		t.Error(err)
	}
}

// TestPlanMeetsItsEnd: edited, for other servers, or not to be written down.
func TestPlanMeetsItsEnd(t *testing.T) {
	servers := locktest.Servers(t, 2)
	c := admin(t, servers[0])
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.json")
	set(t, c, "lock:a", ours, 0)
	command(t, "repair", "plan", "--confirm-after", "10ms", "--redis", servers[0].Addr(), "-o", file).want(t, exitClean, "expire=1h0m0s  no_ttl")
	text, err := os.ReadFile(file)
	must(t, err)
	apply := func(file, addr string, args ...string) outcome {
		return command(t, append([]string{"repair", "apply", file, "--redis", addr, "--min-age", "1ms", "--yes"}, args...)...)
	}
	edited := filepath.Join(dir, "edited.json")
	must(t, os.WriteFile(edited, []byte(strings.Replace(string(text), "expire=1h0m0s", "delete", 1)), 0o600))
	apply(edited, servers[0].Addr()).want(t, exitError, "was changed after it was made")
	apply(file, servers[1].Addr()).want(t, exitError, "it is for "+servers[0].Addr())
	apply(file, addrs(servers...)).want(t, exitError, "it is for "+servers[0].Addr())
	apply(file, servers[0].Addr(), "--audit-log", filepath.Join(dir, "missing", "log")).want(t, exitError, "--audit-log")
	if _, err := os.Stat("/dev/full"); err == nil { // Linux: writes fail, opening does not
		apply(file, servers[0].Addr(), "--audit-log", "/dev/full").want(t, exitError, "stopped repairing", "0 done", "1 failed or not tried")
	}
	commandWith(t, []string{"LOCKSCOPE_YES=true", "LOCKSCOPE_MIN_AGE=0s"}, "", "repair", "apply", file, "--redis", servers[0].Addr()).
		want(t, exitFindings, "LOCKSCOPE_YES is set and not read", "LOCKSCOPE_MIN_AGE is set and not read", "outcome=refused")
	if ttl := c.PTTL(t.Context(), "lock:a").Val(); ttl != -1 {
		t.Errorf("TTL %v: it was repaired all the same", ttl)
	}
	set(t, c, "lock:a", strings.Replace(ours, "0", "1", 1), 0) // another holder
	apply(file, servers[0].Addr()).want(t, exitFindings, "outcome=changed", "1 changed")
	command(t, "repair", "plan", "--confirm-after", "10ms", "--redis", addrs(servers...), "--checks", "no_ttl,orphan", "-o", filepath.Join(dir, "gaps.json")).
		want(t, exitIncomplete, "INCOMPLETE: orphans_unproved", "1 keys to repair")
}
