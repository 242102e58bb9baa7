//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/history"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/judge"
	"github.com/lockscope/lockscope/lock/proof/internal/campaignlines"
)

// small is a campaign that is over soon, with fewer clients for a machine that has other things to do.
func small(t *testing.T, length time.Duration) options {
	return options{length: length, seed: 1, dir: t.TempDir(), clients: 3, callers: 6, builders: 8, pace: 80 * time.Millisecond, progress: t.Output()}
}

// TestCampaign is a short one, from the first server to the report.
func TestCampaign(t *testing.T) {
	o := small(t, 18*time.Second)
	o.record = recordOf(t)
	c, err := conduct(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.verdict.Anomalies {
		t.Error(a)
	}
	if !c.ok() {
		t.Errorf("porcupine says %s", c.verdict.Register.Result)
	}
	if n := len(c.verdict.Leases); n < 50 {
		t.Errorf("only %d leases", n)
	}
	for _, what := range history.Constructs {
		if c.verdict.Claims[what] == 0 {
			t.Errorf("no %s", what)
		}
	}
	carriedOut := 0
	for _, f := range c.nemesis.Done() {
		if !f.Skipped && f.Err == "" {
			carriedOut++
		}
		if f.Err != "" {
			t.Errorf("%s: %s", f.Kind, f.Err)
		}
	}
	if carriedOut < 5 || len(c.plan)-carriedOut > 3 {
		t.Errorf("only %d of %d faults were carried out", carriedOut, len(c.plan))
	}
	var report strings.Builder
	if err := c.publish(&report); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + report.String())
	for _, want := range []string{"**HELD", "porcupine: Ok", "| exclusion |", "| wait p50 |"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir, "report.md")); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(o.record)
	if err != nil {
		t.Fatal(err)
	}
	record, err := campaignlines.Parse(string(text))
	if err != nil || record.Lines() != 2 {
		t.Fatalf("%v: the record is\n%s", err, text)
	}
	when, commit, _ := strings.Cut(record.Of, ", ")
	commit, _, _ = strings.Cut(commit, ",")
	for _, said := range []string{"| when | " + when, commit + " |"} {
		if !strings.Contains(report.String(), said) {
			t.Errorf("the report does not say %q, as its record does", said)
		}
	}
}

// recordOf is where a campaign writes its record, in a folder beside code of two lines.
func recordOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lease.go"), []byte("package lock\n\nvar a int // one\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	proof := filepath.Join(dir, "proof")
	if err := os.Mkdir(proof, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(proof, "campaign.lines")
}

// TestCampaignFindsAForger has a client that takes no locks. It is found by everybody whose business it is.
func TestCampaignFindsAForger(t *testing.T) {
	o := small(t, 6*time.Second)
	o.forgers = 1
	o.record = recordOf(t)
	c, err := conduct(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.publish(t.Output()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.record); err == nil {
		t.Error("a campaign that found something is recorded as evidence")
	}
	found := make(map[string]int)
	for _, a := range c.verdict.Anomalies {
		found[a.Judge]++
	}
	t.Logf("found: %v; porcupine says %s", found, c.verdict.Register.Result)
	for _, name := range []string{judge.Exclusion, judge.Fences, judge.Ledger, judge.Elections, judge.Permits, judge.Sets,
		judge.ReadWrite} {
		if found[name] == 0 {
			t.Errorf("%s has found nothing", name)
		}
	}
	if c.ok() || c.verdict.Register.Ok() {
		t.Errorf("the verdict is fine; porcupine says %s", c.verdict.Register.Result)
	}
	var report strings.Builder
	if err := c.publish(&report); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.String(), "**VIOLATED") {
		t.Errorf("the report says\n%s", &report)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "porcupine.html")); err != nil {
		t.Error(err)
	}
}
