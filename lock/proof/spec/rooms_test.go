package main

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Models need the explorer and the words that they share, and no other room. Only tests need what they are compared with.
func TestRoomsNeedOnlyWhatIsBelow(t *testing.T) {
	const internal = "github.com/lockscope/lockscope/lock/proof/spec/internal/"
	below := map[string][]string{
		"attempt": nil, "compare": nil, "explore": nil,
		"locks": {"attempt", "explore"}, "nodes": {"attempt", "explore"}, "constructs": {"attempt", "explore"},
	}
	rooms, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range rooms {
		allowed, ok := below[room.Name()]
		if !ok {
			t.Errorf("%s: this test does not say what it may import", room.Name())
		}
		pkg, err := build.ImportDir(filepath.Join("internal", room.Name()), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pkg.Imports {
			if other, ok := strings.CutPrefix(path, internal); ok && !slices.Contains(allowed, other) {
				t.Errorf("%s imports %s", room.Name(), other)
			}
		}
	}
}
