package release

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// row is a module and what it is for.
var row = regexp.MustCompile(`(?m)^\| ([^ |]+\.[^ |]+/[^ |]+) \| [^|]{10,} \|`)

// TestDirectDependencies: the page says what every direct dependency of the modules is for, and names no other.
func TestDirectDependencies(t *testing.T) {
	_, page, _ := strings.Cut(readText(t, ".github/DEPENDENCIES.md"), "\n## ")
	sections := strings.Split(page, "\n## ")
	for name, folder := range map[string]string{
		"The library": ".", "exporter": "exporter", "exporter/cmd/lockscope": "exporter/cmd/lockscope", "etcdlock": "lock/etcdlock",
	} {
		i := slices.IndexFunc(sections, func(s string) bool { return strings.HasPrefix(s, name+"\n") })
		if i < 0 {
			t.Errorf("there is no section %q", name)
			continue
		}
		var rows []string
		for _, m := range row.FindAllStringSubmatch(sections[i], -1) {
			rows = append(rows, m[1])
		}
		text := readText(t, folder+"/go.mod")
		file, err := modfile.Parse("go.mod", []byte(text), nil)
		must(t, err)
		var direct []string
		for _, r := range file.Require {
			if !r.Indirect && !strings.HasPrefix(r.Mod.Path, "github.com/lockscope/") {
				direct = append(direct, r.Mod.Path)
			}
		}
		slices.Sort(direct)
		slices.Sort(rows)
		if !slices.Equal(rows, direct) {
			t.Errorf("%s: the page has %q, go.mod %q", folder, rows, direct)
		}
	}
}
