package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/proof/mutate/bugs"
)

// TestEvidenceNamesTheFiles: the table of EVIDENCE.md has every bug under its number, with the file in which it is
// planted now and the test that notices. How long that took, and what comes of it, are of the run.
func TestEvidenceNamesTheFiles(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| \\d+ \\| (.+) \\| .+ \\| `([^`]+)` \\| `([^`]+)` \\| [0-9.]+ s \\|$")
	rows := row.FindAllStringSubmatch(readFile(t, "lock/proof/EVIDENCE.md"), -1)
	mutants := bugs.All()
	if len(rows) != len(mutants) {
		t.Fatalf("EVIDENCE.md has %d bugs, and the gate plants %d", len(rows), len(mutants))
	}
	for i, m := range mutants {
		want := [...]string{cell(m.Bug), fileCell(m), cell(m.Killer.Run)}
		if m.Equivalent != "" {
			want[2] = cell(result{Mutant: m, verdict: same}.killer())
		}
		for column, text := range want {
			if got := rows[i][column+1]; strings.TrimSpace(got) != text {
				t.Errorf("row %d says %q instead of %q", i+1, got, text)
			}
		}
	}
}
