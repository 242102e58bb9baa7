package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/fleet"
	"github.com/lockscope/lockscope/dashboards/gen/internal/rules"
)

func alertNames(t *testing.T) []string {
	files, err := rules.Files(config.Default())
	must(t, err)
	var names []string
	for _, f := range files {
		for _, g := range f.Groups {
			for _, r := range g.Rules {
				if r.Alert != "" && !slices.Contains(names, r.Alert) {
					names = append(names, r.Alert)
				}
			}
		}
	}
	return names
}

// TestRunbooks wants a page per alert, and no other; what it tells people to type must exist.
func TestRunbooks(t *testing.T) {
	all := known(t, fleet.Default(), files(t, fleet.Default()))
	pages := map[string]bool{}
	for _, path := range glob(t, "runbooks/*.md") {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		pages[name] = true
		text, err := os.ReadFile(path)
		must(t, err)
		for _, err := range checkRunbook(name, string(text), all) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, name := range alertNames(t) {
		if !pages[name] {
			t.Errorf("no runbook for %s: write dashboards/runbooks/%s.md", name, name)
		}
		delete(pages, name)
	}
	for name := range pages {
		t.Errorf("runbooks/%s.md belongs to no alert", name)
	}
}

// TestReadme wants a line for each alert in the table.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(committed, "README.md"))
	must(t, err)
	var told []string
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "| [DistributedLock"); ok {
			name, link, _ := strings.Cut(name, "](")
			name = "DistributedLock" + name
			told = append(told, name)
			if !strings.HasPrefix(link, "runbooks/"+name+".md)") {
				t.Errorf("%s links to another runbook", name)
			}
		}
	}
	if want := alertNames(t); !slices.Equal(told, want) {
		t.Errorf("the README tells of %v, the rules have %v", told, want)
	}
}
