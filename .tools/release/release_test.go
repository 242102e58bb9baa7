package release

import (
	"archive/zip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// copyMods copies what run reads, which it also writes.
func copyMods(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	names := append([]string{"go.work"}, workFiles...)
	for _, m := range repository(t) {
		names = append(names, filepath.Join(m.folder, "go.mod"))
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		must(t, err)
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(to, name), text, 0o644))
	}
	return to
}

// TestRelease: every module requires the version of every other.
func TestRelease(t *testing.T) {
	tree := &shop{t, copyMods(t)}
	if out, want := tree.run("version", "v0.7.3"), "release.sh tag v0.7.3\n"; !strings.HasSuffix(out, want) {
		t.Errorf("%q is not at the end of\n%s", want, out)
	}
	all, err := modules(tree.dir)
	must(t, err)
	required := 0
	for _, m := range all {
		for _, r := range m.file.Require {
			if !strings.HasPrefix(r.Mod.Path, "github.com/lockscope/") {
				continue
			}
			if required++; r.Mod.Version != "v0.7.3" {
				t.Errorf("%s requires %s", m.folder, r.Mod)
			}
		}
	}
	if required < len(all) {
		t.Errorf("%d requirements between %d modules", required, len(all))
	}
	for _, name := range append([]string{"go.work"}, workFiles...) {
		text, err := os.ReadFile(filepath.Join(tree.dir, name))
		must(t, err)
		if n := strings.Count(string(text), " v0.7.3 => "); n != len(all) {
			t.Errorf("%s replaces %d modules of that version, want %d", name, n, len(all))
		}
	}
}

// TestSystems: a release is built for the systems that its page names. Building all of them is for make proof.
func TestSystems(t *testing.T) {
	for name, says := range map[string]string{
		".tools/dist/goreleaser.yaml": "goos: [linux, darwin, windows]\n    goarch: [amd64, arm64]\n",
		".tools/release/README.md":    "for linux, darwin and windows on amd64 and arm64",
	} {
		if !strings.Contains(readText(t, name), says) {
			t.Errorf("%s does not say %q", name, says)
		}
	}
}

func TestVersions(t *testing.T) {
	for _, version := range []string{"", "0.2.0", "v0.2", "v2.0.0", "v0.2.0+meta", "latest"} {
		newShop(t).refused([]string{"version", version}, "like v0.2.0")
	}
}

// TestUnknownCommand: it names the others.
func TestUnknownCommand(t *testing.T) {
	newShop(t).refused([]string{"modules"}, "usage: ")
}

// TestProxy packs what a tag of the tree would have: the licence of the root, and nothing that git ignores.
func TestProxy(t *testing.T) {
	s := newShop(t)
	s.write(map[string]string{"LICENSE": "Do what you like.\n", ".gitignore": "/dist/\n", "dist/lockscope": "\x7fELF"})
	proxy := t.TempDir()
	all, err := modules(s.dir)
	must(t, err)
	must(t, writeProxy(all, proxy, "v0.1.0", time.Now()))
	for path, want := range map[string][]string{
		"shop":     {".gitignore", "CHANGELOG.md", "LICENSE", "go.mod", "go.work", "internal/till/till.go", "shop.go"},
		"shop/pay": {"LICENSE", "go.mod", "pay.go"},
	} {
		in, err := zip.OpenReader(filepath.Join(proxy, "example.com", path, "@v", "v0.1.0.zip"))
		must(t, err)
		defer in.Close()
		var names []string
		for _, f := range in.File {
			name, _ := strings.CutPrefix(f.Name, "example.com/"+path+"@v0.1.0/")
			if !strings.HasPrefix(name, ".tools/") {
				names = append(names, name)
			}
		}
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("%s: %q, want %q", path, names, want)
		}
	}
}
