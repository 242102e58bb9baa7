package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLicences: the table is what the modules are compiled with now. make proof runs it: it lists every package of
// every module, for three systems.
func TestLicences(t *testing.T) {
	all, err := releasedModules(root)
	must(t, err)
	want, err := licenceTable(all)
	must(t, err)
	have := readText(t, ".github/LICENCES.md")
	if have == want {
		return
	}
	lines := func(s string) []string { return strings.Split(s, "\n") }
	for _, line := range lines(want) {
		if !slices.Contains(lines(have), line) {
			t.Errorf("missing: %s", line)
		}
	}
	for _, line := range lines(have) {
		if !slices.Contains(lines(want), line) {
			t.Errorf("not true: %s", line)
		}
	}
	t.Error("run make licences, and look at what is new")
}

// allowed are the licences that ask for no more than to be named, and MPL-2.0, whose files are used as they are.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0"}

func TestLicencesAreAllowed(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| ([^|]+\.[^|]+) \| ([^|]+) \| ([^|]+) \|$`).FindAllStringSubmatch(
		readText(t, ".github/LICENCES.md"), -1)
	if len(rows) < 100 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		for _, licence := range strings.Split(row[2], ", ") {
			if !slices.Contains(allowed, licence) {
				t.Errorf("%s has %s: talk about it before it is used", row[1], licence)
			}
		}
	}
}

func TestUnknownLicence(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("All rights reserved."), 0o644))
	if names, _, err := licencesOf(dir); !errors.Is(err, errNoLicence) {
		t.Errorf("%q, %v", names, err)
	}
	names, files, err := licencesOf(root)
	if err != nil || !slices.Equal(names, []string{"Apache-2.0"}) || len(files) != 1 {
		t.Errorf("%q, %q, %v", names, files, err)
	}
}
