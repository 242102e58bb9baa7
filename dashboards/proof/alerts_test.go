//go:build unix

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/proof/internal/check"
)

// TestAlerts fires every alert on a real Prometheus with its fault on real Redis, and waits until none fires.
func TestAlerts(t *testing.T) {
	temp := emptyTemp(t)
	var out bytes.Buffer
	p := newProof(io.MultiWriter(&out, t.Output()))
	if err := p.runAlerts(t.Context(), options{}); err != nil {
		t.Error(err)
	}
	if text := out.String(); strings.Count(text, "\nDistributedLock") < 30 ||
		!strings.Contains(text, "all is stopped") {
		t.Error("the table does not have every alert")
	}
	wantEmpty(t, temp)
}

// TestFired tests the records on which TestAlerts relies.
func TestFired(t *testing.T) {
	lost := check.Alerting{Name: "Lost", Severity: "critical"}
	slow := check.Alerting{Name: "Burn", Severity: "warning", Window: "3d", For: patience + minute}
	never := check.Alerting{Name: "Never", Severity: "warning"}
	var fired check.Fired
	fired.Note([]check.Live{{Alerting: lost, Firing: 1, Told: "a lease was lost"}, {Alerting: slow}, {Alerting: never}},
		4*minute)
	after := []check.Live{{Alerting: lost}, {Alerting: slow}, {Alerting: never}}
	if found := fired.Lacking(after, patience); len(found) != 1 || found[0].Where != "alert Never (warning)" {
		t.Errorf("lacking are %v", found)
	}
	if found := fired.Lacking(after, 2*patience); len(found) != 2 {
		t.Errorf("lacking are %v", found)
	}
	if found := check.StillFiring([]check.Live{{Alerting: lost, Firing: 2}, {Alerting: never, Firing: 1},
		{Alerting: slow, Firing: 1}}, patience, "Never"); len(found) != 1 || !strings.Contains(found[0].Where, "Lost") {
		t.Errorf("still firing are %v", found)
	}
	var table bytes.Buffer
	fired.Write(&table, after, minute)
	if lines := strings.Split(table.String(), "\n"); !strings.Contains(lines[1], "4 min") ||
		!strings.Contains(lines[1], "a lease was lost") || !strings.Contains(lines[2], "16m") {
		t.Errorf("the table is\n%s", &table)
	}
}
