package release

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatsNameTests that exist, so that a defence that lost its test is noticed.
func TestThreatsNameTests(t *testing.T) {
	exists := make(map[string]bool)
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	must(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(text, -1) {
			exists[string(m[1])] = true
		}
		return err
	}))
	named := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`).FindAllString(readText(t, "lock/THREATS.md"), -1)
	if len(named) < 50 {
		t.Errorf("%d tests are named", len(named))
	}
	for _, name := range named {
		if !exists[name] {
			t.Errorf("there is no %s", name)
		}
	}
}
