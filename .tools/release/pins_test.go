package release

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pinned is an action by its commit, which cannot be moved as a tag can, and the version for people and dependabot.
var pinned = regexp.MustCompile(`^actions/(checkout|setup-go|upload-artifact)@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// TestActionsArePinned in every workflow, whatever it is for, and one action has one version.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*"))
	must(t, err)
	versions, n := make(map[string]string), 0
	for _, file := range files {
		name := filepath.ToSlash(file)
		for _, m := range regexp.MustCompile(`uses:\s*(.+)`).FindAllStringSubmatch(readText(t, name[len(root)+1:]), -1) {
			n++
			if !pinned.MatchString(m[1]) {
				t.Errorf("%s uses %q: want actions/NAME@COMMIT # vVERSION", name, m[1])
			}
			action, version, _ := strings.Cut(m[1], "@")
			if other, ok := versions[action]; ok && other != version {
				t.Errorf("%s uses %s@%s, another workflow %s", name, action, version, other)
			}
			versions[action] = version
		}
	}
	if n == 0 {
		t.Error("no workflow uses an action: the test looks at nothing")
	}
}

// TestDependabot watches the actions, and every module that has Go.
func TestDependabot(t *testing.T) {
	text := readText(t, ".github/dependabot.yml")
	var folders []string
	must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && slices.Contains([]string{"node_modules", "render", "pictures"}, e.Name()) {
			return fs.SkipDir
		}
		if err == nil && e.Name() == "go.mod" {
			folders = append(folders, "/"+strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path))[len(root):], "/"))
		}
		return err
	}))
	var watched []string
	for _, m := range regexp.MustCompile(`(?m)^ +- "?(/[^"\s]*)"?$`).FindAllStringSubmatch(text, -1) {
		watched = append(watched, m[1])
	}
	slices.Sort(folders)
	slices.Sort(watched)
	if !slices.Equal(watched, folders) {
		t.Errorf("dependabot watches %q, there are %q", watched, folders)
	}
	if !strings.Contains(text, "package-ecosystem: github-actions") {
		t.Error("dependabot does not watch the actions")
	}
}
