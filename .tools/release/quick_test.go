package release

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestQuickFollowsInternalPackages up to public ones, and public ones to those that import them.
func TestQuickFollowsInternalPackages(t *testing.T) {
	for file, c := range map[string]struct{ has, lacks []string }{
		"lock/engine/internal/ballot/tally.go": {
			[]string{"lock/engine/internal/ballot", "lock/engine/internal/lease", "lock/engine"},
			[]string{"lock", "lock/redlock"}}, // import the engine, or are imported
		"exporter/cmd/lockscope/internal/servers/line.go": {
			[]string{"exporter/cmd/lockscope/internal/list", "exporter/cmd/lockscope"}, []string{"exporter"}},
		"exporter/internal/views/assets/history.js": {[]string{"exporter/internal/views", "exporter"}, []string{"examples/service"}},
		"lock/fencing/store.go":                     {[]string{"lock/fencing", "lock/fencing/redisfence"}, []string{"lock/proof"}},
		"instrument/internal/metrics/node.go": {
			[]string{"instrument/internal/metrics", "instrument", "exporter/otlp", "exporter/observe"}, []string{"lock"}},
		"lock/adapters/README.md": {nil, []string{"lock", "lock/engine"}},
	} {
		quick := exec.CommandContext(t.Context(), "make", "--silent", "--no-print-directory", "quick-packages", "FILES="+file)
		quick.Dir = root
		out, err := quick.Output()
		must(t, err)
		packages := strings.Fields(string(out))
		for _, p := range c.has {
			if !slices.Contains(packages, p) {
				t.Errorf("%s: %s is not tested", file, p)
			}
		}
		for _, p := range c.lacks {
			if slices.Contains(packages, p) {
				t.Errorf("%s: %s is tested", file, p)
			}
		}
	}
}
