package release

import (
	"regexp"
	"slices"
	"testing"
)

// allowed are the licences that ask for no more than to be named, and MPL-2.0, whose files are used as they are.
var allowed = []string{
	"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unlicense",
}

// TestLicencesAreAllowed: make licences writes Unknown where it recognises none.
func TestLicencesAreAllowed(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| ([^|]+\.[^|]+) \| ([^|]+) \|$`).FindAllStringSubmatch(
		readText(t, ".github/LICENCES.md"), -1)
	if len(rows) < 100 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		if !slices.Contains(allowed, row[2]) {
			t.Errorf("%s has %s: talk about it before it is used", row[1], row[2])
		}
	}
}
