package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNearest keeps what the code calls of everything that is said of a vulnerability.
func TestNearest(t *testing.T) {
	all, err := nearest(strings.NewReader(`{"config":{}}
		{"finding":{"osv":"GO-2","fixed_version":"v1.1.0","trace":[{"module":"m","version":"v1.0.0"}]}}
		{"finding":{"osv":"GO-1","trace":[{"module":"n","version":"v1.0.0"}]}}
		{"finding":{"osv":"GO-2","fixed_version":"v1.1.0","trace":[{"module":"m","version":"v1.0.0","package":"m/p"}]}}
		{"finding":{"osv":"GO-2","fixed_version":"v1.1.0","trace":[{"module":"m","version":"v1.0.0","package":"m/p",
			"function":"F"}]}}`))
	must(t, err)
	if len(all) != 2 || all[0].OSV != "GO-2" || all[0].nearness() != called || all[1].nearness() != required {
		t.Errorf("%+v", all)
	}
	if _, err := nearest(strings.NewReader("x")); err == nil {
		t.Error("no error")
	}
}

// TestWriteDatabase in the layout of https://go.dev/doc/security/vuln/database.
func TestWriteDatabase(t *testing.T) {
	from, to, at := t.TempDir(), t.TempDir(), time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
	report := `{"id":"GO-2026-1","aliases":["CVE-1"],"affected":[{"package":{"name":"a/b"}},{"package":{"name":"a/b"}},` +
		`{"package":{"name":"a/a"}}]}`
	must(t, os.WriteFile(filepath.Join(from, "GO-2026-1.json"), []byte(report), 0o644))
	if n, err := writeDatabase(to, from, at); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	for name, want := range map[string]string{
		"ID/GO-2026-1.json": report,
		"index/db.json":     `{"modified":"2026-11-05T00:00:00Z"}`,
		"index/vulns.json":  `[{"id":"GO-2026-1","modified":"2026-11-05T00:00:00Z","aliases":["CVE-1"]}]`,
		"index/modules.json": `[{"path":"a/a","vulns":[{"id":"GO-2026-1","modified":"2026-11-05T00:00:00Z"}]},` +
			`{"path":"a/b","vulns":[{"id":"GO-2026-1","modified":"2026-11-05T00:00:00Z"}]}]`,
	} {
		text, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(name)))
		if err != nil || string(text) != want || !json.Valid(text) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	if _, err := writeDatabase(to, t.TempDir(), at); err == nil {
		t.Error("an empty database is one")
	}
}
