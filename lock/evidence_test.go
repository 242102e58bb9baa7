package lock_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEvidenceNamesTestsThatExist: whoever doubts a sentence of these pages runs the test that it names.
func TestEvidenceNamesTestsThatExist(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	exists := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			exists[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)")
	for _, page := range []string{"EVIDENCE.md", "SCEPTICS.md", "locktest/spec/SPEC.md", "locktest/mutate/README.md", "redlock/prove/README.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		tests := named.FindAllStringSubmatch(string(text), -1)
		if len(tests) == 0 {
			t.Errorf("%s names no test", page)
		}
		for _, test := range tests {
			if !exists[test[1]] {
				t.Errorf("%s names %s, which is nowhere", page, test[1])
			}
		}
	}
}
