package main

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Models need the explorer and the words that they share, and no other folder. Only tests need what they are compared with.
func TestFoldersImportOnlyWhatIsBelow(t *testing.T) {
	const internal = "github.com/lockscope/lockscope/lock/proof/spec/internal/"
	below := map[string][]string{
		"attempt": nil, "compare": nil, "explore": nil,
		"locks": {"attempt", "explore"}, "nodes": {"attempt", "explore"}, "constructs": {"attempt", "explore"},
	}
	packages, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range packages {
		allowed, ok := below[folder.Name()]
		if !ok {
			t.Errorf("%s: this test does not say what it may import", folder.Name())
		}
		pkg, err := build.ImportDir(filepath.Join("internal", folder.Name()), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pkg.Imports {
			if other, ok := strings.CutPrefix(path, internal); ok && !slices.Contains(allowed, other) {
				t.Errorf("%s imports %s", folder.Name(), other)
			}
		}
	}
}
