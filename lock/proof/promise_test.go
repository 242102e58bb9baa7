package proof_test

import (
	"os"
	"strings"
	"testing"
)

// TestEvidenceStatesThePromise keeps the promise of EVIDENCE.md and its exact form those of the package doc, word for word.
// A test of package lock does so for the README.
func TestEvidenceStatesThePromise(t *testing.T) {
	for doc, evidence := range map[string]string{"The promise": "## What is claimed", "The exact form": "## The exact form"} {
		promised := passage(t, "../doc.go", "// # "+doc+"\n//\n", "\n//\n// # ", "//")
		if claimed := passage(t, "EVIDENCE.md", evidence+"\n\n", "\n\n", ">"); claimed != promised {
			t.Errorf("%s: the package doc promises\n%s\nand EVIDENCE.md\n%s", doc, promised, claimed)
		}
	}
}

// passage is what stands between two texts of a file: its words, without marks at the beginning of lines.
func passage(t *testing.T, file, begin, end, marks string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), begin)
	middle, _, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s: no %q ... %q", file, begin, end)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(middle, marks, "")), " ")
}
