package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"
	"go.uber.org/goleak"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMutants wants every rule changed, and every equivalent mutant to be one of them.
func TestMutants(t *testing.T) {
	files, err := rules.Files(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	all, err := mutants(files)
	if err != nil {
		t.Fatal(err)
	}
	changed, names := map[string]bool{}, map[string]bool{}
	for _, m := range all {
		changed[name(m.rule)], names[m.String()] = true, true
	}
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if !changed[name(r)] {
					t.Errorf("%s is never changed", name(r))
				}
			}
		}
	}
	for mutant, why := range equivalent {
		if !names[mutant] || why == "" {
			t.Errorf("%s is no mutant, or has no reason", mutant)
		}
	}
	t.Logf("%d mutants", len(all))
}

// TestKillers writes what was recorded, without mutants that are gone.
func TestKillers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "killers.txt")
	k, err := readKillers(path)
	if err != nil {
		t.Fatal(err)
	}
	here := mutant{rule: rulefmt.Rule{Alert: "A"}, what: "1 -> 2"}
	also := mutant{rule: rulefmt.Rule{Alert: "A"}, what: "for 1m -> 0s"}
	gone := mutant{rule: rulefmt.Rule{Alert: "B"}, what: "1 -> 2"}
	k.add(here, "a.yaml: one: two")
	k.add(also, "a.yaml: one: two")
	k.add(gone, "b.yaml: three")
	k.keep([]mutant{here, also})
	if err := k.write(path); err != nil {
		t.Fatal(err)
	}
	if k, err = readKillers(path); err != nil {
		t.Fatal(err)
	}
	for _, m := range []mutant{here, also} {
		if have := k.of(m); have != "a.yaml: one: two" {
			t.Errorf("%s: %q", m, have)
		}
	}
	if have := k.of(gone); have != "" {
		t.Errorf("%s: %q is kept", gone, have)
	}
}

func TestChange(t *testing.T) {
	offset := rulefmt.Rule{Alert: "B", For: 300e9, Expr: `x offset 5m / 3 - y`}
	moved, err := change(offset)
	if err != nil {
		t.Fatal(err)
	}
	rule := rulefmt.Rule{Alert: "A", For: 60e9, Expr: `sum by (job) (rate(x_total{a="b"}[5m])) > 2 unless on (job) y`}
	made, err := change(rule)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]string{}
	for _, m := range append(made, moved...) {
		have[m.what] = m.rule.Expr
	}
	for what, expr := range map[string]string{
		"for 1m -> 30s":   rule.Expr,
		"2 -> 2.8":        `sum by (job) (rate(x_total{a="b"}[5m])) > 2.8 unless on (job) y`,
		"[5m] -> [10m]":   `sum by (job) (rate(x_total{a="b"}[10m])) > 2 unless on (job) y`,
		"[5m] -> [6m]":    `sum by (job) (rate(x_total{a="b"}[6m])) > 2 unless on (job) y`,
		"[5m] -> [4m]":    `sum by (job) (rate(x_total{a="b"}[4m])) > 2 unless on (job) y`,
		"> -> >=":         `sum by (job) (rate(x_total{a="b"}[5m])) >= 2 unless on (job) y`,
		"for 1m -> 0s":    rule.Expr,
		"for 5m -> 6m":    offset.Expr,
		"for 5m -> 4m":    offset.Expr,
		"offset 5m -> 6m": `x offset 6m / 3 - y`,
		"offset 5m -> 4m": `x offset 4m / 3 - y`,
		"offset 5m -> 0s": `x / 3 - y`,
		"/ -> *":          `x offset 5m * 3 - y`,
		"- -> +":          `x offset 5m / 3 + y`,
		"> -> <":          `sum by (job) (rate(x_total{a="b"}[5m])) < 2 unless on (job) y`,
		"by without job":  `sum(rate(x_total{a="b"}[5m])) > 2 unless on (job) y`,
		"on without job":  `sum by (job) (rate(x_total{a="b"}[5m])) > 2 unless on () y`,
		`without a="b"`:   `sum by (job) (rate(x_total[5m])) > 2 unless on (job) y`,
		"sum -> max":      `max by (job) (rate(x_total{a="b"}[5m])) > 2 unless on (job) y`,
		"unless -> and":   `sum by (job) (rate(x_total{a="b"}[5m])) > 2 and on (job) y`,
	} {
		if have[what] != expr {
			t.Errorf("%s: %s, want %s", what, have[what], expr)
		}
	}
}

// TestChangeLeavesNativeHistogramsAlone, for promtool has none: an "and" of two of them is never seen either.
func TestChangeLeavesNativeHistogramsAlone(t *testing.T) {
	made, err := change(rulefmt.Rule{Record: "r", Expr: `x or histogram_count(a) or histogram_count(b) or y`})
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, m := range made {
		have = append(have, m.rule.Expr)
	}
	want := []string{`x or histogram_count(a) or histogram_count(b) and y`,
		`x and histogram_count(a) or histogram_count(b) or y`}
	if !slices.Equal(have, want) {
		t.Errorf("%q, want %q", have, want)
	}
}
