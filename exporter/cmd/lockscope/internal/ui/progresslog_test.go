package ui

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockscope/lockscope/scanner/report"
)

// TestLog writes nothing about short sweeps, and of a long one a line every ten seconds with the time that is left.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := NewProgressLog(slog.New(slog.NewTextHandler(&out, nil)))
		report := func(node string, share float64, done bool) {
			l.Report(report.Progress{Node: node, Share: share, Keys: 1000, Locks: int64(1000 * share), Done: done})
			time.Sleep(time.Second)
		}
		lines := func() (n int) { return strings.Count(out.String(), "sweep in progress") }
		for range 30 { // sweeps of two seconds each
			report("a", 0.5, false)
			report("a", 1, true)
		}
		if lines() != 0 {
			t.Fatalf("short sweeps are logged:\n%s", out.String())
		}
		for i := range 25 { // it goes on at half of a, where a deadline had cut off the sweep before
			report("a", 0.5+0.02*float64(i), false)
			report("b", 0.02*float64(i), false)
		}
		if lines() != 4 {
			t.Errorf("%d lines in 50 s:\n%s", lines(), out.String())
		}
		// After 40 s a is at 0.9 and b at 0.38: 64 %. 39 % of them took 40 s, so the other 36 % take 37 s.
		last := out.String()[strings.LastIndex(out.String(), "time="):]
		for _, text := range []string{
			`read="64 %"`, "keys=2000", `nodes_done="0 of 2"`, "took=40s", "left=37s", "level=INFO",
		} {
			if !strings.Contains(last, text) {
				t.Errorf("%s is not in %s", text, last)
			}
		}
		report("a", 1, true)
		report("b", 1, true)
		before := lines()
		report("a", 0.1, false)
		if lines() != before {
			t.Error("the next sweep has the age of the one before")
		}
	})
}
