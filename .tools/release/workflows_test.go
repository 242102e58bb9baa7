package release

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWorkflows may read the repository and nothing else, save that of a release. They take Go's version from go.mod,
// and run what anybody can run.
func TestWorkflows(t *testing.T) {
	commands := map[string]string{"ci.yml": "bash .ci/run\n      - run: make release-check", "nightly.yml": "make proof",
		"release.yml": "make release-check\n      - run: make dist VERSION=\"$GITHUB_REF_NAME\""}
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*"))
	must(t, err)
	if len(files) != len(commands) {
		t.Errorf("%v, want %v", files, commands)
	}
	for name, command := range commands {
		text := readText(t, ".github/workflows/"+name)
		permissions, version := "\npermissions:\n  contents: read\n", "go-version-file: go.mod\n"
		if name == "release.yml" {
			permissions = "\npermissions:\n  contents: write # the release and its files\n" +
				"  packages: write # the container image\n"
			version = "check-latest: true"
		}
		for _, line := range []string{permissions, version,
			"- run: " + command + "\n", "runs-on: ubuntu-latest\n"} {
			if !strings.Contains(text, line) {
				t.Errorf("%s has no %q", name, line)
			}
		}
		if n := strings.Count(text, "permissions:"); n != 1 {
			t.Errorf("%s sets permissions %d times", name, n)
		}
	}
}
