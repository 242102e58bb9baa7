package dist

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const version = "v0.0.0-dist.1"

// systems may be fewer, while you work on a test: go test -args -systems=linux.
var systems = flag.String("systems", "linux, darwin, windows", "what the tests build")

// TestDist builds twice, from two copies of the tree in two folders, the second time with an empty build cache. The files are equal, and
// work.
func TestDist(t *testing.T) {
	key, signers := newKey(t)
	t.Setenv("LOCKSCOPE_RELEASE_KEY_FILE", key)
	t.Setenv("LOCKSCOPE_RELEASE_SIGNERS", signers)
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	first, second := filepath.Join(t.TempDir(), "dist"), filepath.Join(t.TempDir(), "elsewhere", "other")
	build := func(to string) {
		t.Helper()
		tree := filepath.Join(t.TempDir(), "tree")
		copyTree(t, tree)
		settings := filepath.Join(tree, ".tools/dist/goreleaser.yaml")
		text, all := read(t, "", settings), "[linux, darwin, windows]"
		if !strings.Contains(text, all) {
			t.Fatalf("%s does not build for %s", settings, all)
		}
		text = strings.Replace(text, all, "["+*systems+"]", 1)
		must(t, os.WriteFile(settings, []byte(text), 0o644))
		output(t, tree, "bash", ".tools/dist/dist.sh", version, to)
	}
	build(first)
	t.Setenv("LOCKSCOPE_DIST_GOCACHE", t.TempDir())
	build(second)
	if t.Failed() {
		return
	}
	if a, b := read(t, first, "SHA256SUMS"), read(t, second, "SHA256SUMS"); a != b {
		t.Errorf("two builds differ:\n%s\n%s", a, b)
	}
	if read(t, first, "SHA256SUMS.sig") == "" {
		t.Error("no signature")
	}
	if runtime.GOOS != "linux" {
		t.Log("what was built is tried on Linux only")
		return
	}
	d := &distribution{t, first}
	t.Run("archives", d.archives)
	t.Run("materials", d.materials)
	t.Run("image", d.image)
	t.Run("deb", d.deb)
	t.Run("rpm", d.rpm)
}

// copyTree copies what git has or would take, and no .git.
func copyTree(t *testing.T, to string) {
	t.Helper()
	root := filepath.Join("..", "..")
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	must(t, err)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue
		}
		must(t, err)
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(to, name), text, 0o644))
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	must(t, err)
	return string(text)
}

// distribution is a folder that was built.
type distribution struct {
	*testing.T
	dir string
}

// one returns the delivered file that matches a pattern.
func (d *distribution) one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(d.dir, pattern))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("%s: %v", pattern, found)
	}
	return found[0]
}

// output runs a program and returns what it prints, also if it fails.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANPAGER=cat")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func wants(t *testing.T, text string, phrases ...string) {
	t.Helper()
	for _, phrase := range phrases {
		if !strings.Contains(text, phrase) {
			t.Errorf("%q is not in\n%s", phrase, text)
		}
	}
}

// tree lists the files of a folder, with their modes.
func tree(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	files := map[string]fs.FileMode{}
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files["/"+name] = info.Mode().Perm()
		return err
	}))
	return files
}
