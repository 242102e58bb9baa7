package fleet_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/fleet"
)

func read(t *testing.T, text string) (fleet.Fleet, error) {
	path := filepath.Join(t.TempDir(), "fleet.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return fleet.Read(path)
}

func TestDefault(t *testing.T) {
	c := fleet.Default()
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := read(t, string(text)); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("read again it is %+v, %v", again, err)
	}
	if empty, err := read(t, ""); err != nil || !reflect.DeepEqual(empty, c) {
		t.Errorf("an empty file gives %+v, %v", empty, err)
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"slo: {availability: 1}":     "availability=1 is not between",
		"slo: {availability: 0}":     "availability: 0 is not between",
		"slo: {wait: 99}":            "wait=99 is not between",
		"slo: {wait: 0}":             "wait: 0 is not between",
		"slo: {within_seconds: 0.2}": "not a bucket",
		"slo: {within_seconds: 0}":   "not a bucket",
		"slo: {period: 1h}":          "below a day",
		"slo: {windows: []}":         "no windows",
		"slo: {windows: [{severity: x, factor: 2, long: 5m, short: 1h}]}": "window 1",
		"interval: 2m":                                   "below five minutes",
		"runbook_url: ''":                                "runbook_url: empty",
		"dashboard_url: http://x/":                       "must not end in /",
		"boards: {top: 0}":                               "top: 0",
		"boards: {page_url: /debug/locks}":               "want an address",
		"boards: {page_url: 'http://{pod}/debug/locks'}": "page_url",
		"boards: {log_selector: app}":                    "log_selector",
		"alerts: {waiters: 0}":                           "waiters must be above 0",
		"labels: [instance]":                             "labels",
		"selector: 'env=prod'":                           "selector",
		"selector: 'env=\"prod\"} or up{'":               "selector",
	} {
		c, err := read(t, text)
		if err == nil {
			err = c.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"colour: blue", "slo: 3", "interval: soon", "slo: {avalability: 0.9}"} {
		if _, err := read(t, text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
	if _, err := fleet.Read("nowhere.yaml"); err == nil {
		t.Error("a file that is not there is accepted")
	}
}

// TestPageLabels: the address of the live page names labels that the fleet has.
func TestPageLabels(t *testing.T) {
	f := fleet.Default()
	f.Boards.PageURL = "https://{cluster}.example.com/{job}/{instance}/debug/locks"
	if err := f.Check(); err != nil {
		t.Error(err)
	}
	f.Labels = nil
	if err := f.Check(); err == nil || !strings.Contains(err.Error(), "{cluster} is none of job, instance") {
		t.Error(err)
	}
}
