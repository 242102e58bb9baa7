//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/proof/campaign/internal/judge"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/vitals"
	"github.com/lockscope/lockscope/lock/proof/campaign/internal/worker"
)

// buildLockscope builds the binary as it is installed.
func buildLockscope(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "lockscope")
	work, err := filepath.Abs("../../../.tools/release/release.work")
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", binary, "./exporter/cmd/lockscope")
	build.Dir, build.Env = "../../..", append(os.Environ(), "GOWORK="+work, "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// TestSoakFindsALeak is a short soak with a client that leaks goroutines. It finds them in that client, and nothing that
// a campaign would have found.
func TestSoakFindsALeak(t *testing.T) {
	o := small(t, time.Minute)
	o.clients, o.callers, o.builders, o.pace = 4, 3, 4, time.Second
	o.lockscope, o.leak = buildLockscope(t), worker.LeakGoroutine
	c, err := conduct(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	leaking := c.site.Crew.Workers()[0].Name
	found := false
	for _, a := range c.verdict.Anomalies {
		switch {
		case a.Judge != judge.Flatness: // what is only warming up, after a minute, is no matter here
			t.Error(a)
		case strings.HasPrefix(a.Text, string(vitals.Goroutines)+" of "+leaking+":"):
			found = true
		}
	}
	if !found {
		t.Errorf("the goroutines of %s are not among %v", leaking, c.verdict.Anomalies)
	}
	for _, group := range []string{workersGroup, nodesGroup, "lockscope serve", "lockscope top"} {
		if !slices.ContainsFunc(c.soaked.Judged.Trends, func(t vitals.Trend) bool { return t.Group == group }) {
			t.Errorf("%s were not judged", group)
		}
	}
	var report strings.Builder
	if err := c.publish(&report); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + report.String())
	for _, want := range []string{"| " + workersGroup, "**grows**", "| flatness |", "make soak"} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}
