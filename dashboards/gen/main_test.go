package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFlags changes every objective by a flag and finds it in the rules.
func TestFlags(t *testing.T) {
	dir := t.TempDir()
	fleet := filepath.Join(dir, "fleet.yaml")
	must(t, os.WriteFile(fleet, []byte("slo: {availability: 0.5, wait: 0.9}\n"), 0o600))
	args := []string{
		"-config", fleet, "-availability", "0.9999", "-within", "0.1", "-selector", `env="prod"`,
		"-runbooks", "https://wiki/locks", "-grafana", "https://graphs", "-exporter-job", "locks", "-out", dir,
	}
	must(t, run(args, io.Discard, io.Discard))
	var all strings.Builder
	for _, name := range []string{"recording", "slo", "alerts"} {
		text, err := os.ReadFile(filepath.Join(dir, "rules", name+".yaml"))
		must(t, err)
		all.Write(text)
	}
	for _, want := range []string{
		"14.4 * 0.0001", "14.4 * 0.1", `le="0.1"`, `env="prod"`, "https://wiki/locks/DistributedLockLost.md",
		"https://graphs/d/lockscope-resource", `absent(up{env="prod",job="locks"} == 1)`,
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no rule has %s", want)
		}
	}
}

func TestFlagsRefused(t *testing.T) {
	for _, args := range [][]string{nil, {"-out", t.TempDir(), "more"}, {"-availability", "2", "-out", t.TempDir()},
		{"-config", "nowhere.yaml"}, {"-nonsense"}} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

func TestQueries(t *testing.T) {
	var out bytes.Buffer
	must(t, run([]string{"-queries"}, &out, io.Discard))
	units, boards := map[string]int{}, map[string]int{}
	for line := range strings.Lines(out.String()) {
		var q struct{ Dashboard, Panel, Unit, Expr string }
		must(t, json.Unmarshal([]byte(line), &q))
		if q.Panel == "" || q.Expr == "" {
			t.Errorf("incomplete: %s", line)
		}
		units[q.Unit]++
		boards[q.Dashboard]++
	}
	if len(boards) != 7 || units[""] > 0 {
		t.Errorf("queries by dashboard %v, by unit %v", boards, units)
	}
}

func TestPrintConfig(t *testing.T) {
	var out bytes.Buffer
	must(t, run([]string{"-print-config", "-wait", "0.95"}, &out, io.Discard))
	if !strings.Contains(out.String(), "wait: 0.95\n") {
		t.Errorf("printed: %s", out.String())
	}
}
