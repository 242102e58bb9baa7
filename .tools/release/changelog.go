package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// entry is the first section of CHANGELOG.md: that of the version under way, or of the last one if nothing is.
type entry struct {
	version string // as v0.2.0
	date    string // empty until the version is released
	text    string
}

var heading = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+) \((.+)\)$`)

func firstEntry(root string) (entry, error) {
	name := filepath.Join(root, "CHANGELOG.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return entry{}, err
	}
	at := heading.FindAllSubmatchIndex(text, 2)
	if len(at) == 0 {
		return entry{}, fmt.Errorf("%s has no heading like \"## 0.2.0 (not tagged yet)\"", name)
	}
	e, end := entry{version: "v" + string(text[at[0][2]:at[0][3]])}, len(text)
	if len(at) > 1 {
		end = at[1][0]
	}
	e.text = strings.TrimSpace(string(text[at[0][1]:end]))
	if when := string(text[at[0][4]:at[0][5]]); regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(when) {
		e.date = when
	}
	return e, nil
}
