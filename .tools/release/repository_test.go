package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shop is a repository with two modules and its own git: the second module requires the first.
type shop struct {
	*testing.T
	dir string
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{t, t.TempDir()}
	work := "go 1.26.0\n\nuse (\n\t../..\n\t../../pay\n)\n\nreplace (\n\texample.com/shop v0.1.0 => ../..\n" +
		"\texample.com/shop/pay v0.1.0 => ../../pay\n)\n"
	s.write(map[string]string{
		"go.mod":                      "module example.com/shop\n\ngo 1.26.0\n",
		"go.work":                     strings.ReplaceAll(strings.ReplaceAll(work, "../../", "./"), "../..", "."),
		"shop.go":                     "package shop\n\nfunc Open(name string) error { return nil }\n",
		"internal/till/till.go":       "package till\n\nfunc Count() int { return 0 }\n",
		"pay/go.mod":                  "module example.com/shop/pay\n\ngo 1.26.0\n\nrequire example.com/shop v0.1.0\n",
		"pay/pay.go":                  "package pay\n\nimport \"example.com/shop\"\n\nvar Open = shop.Open\n",
		".tools/release/release.work": work,
		".tools/release/contrib.work": "go 1.26.0\n\nuse ../..\n",
		"CHANGELOG.md":                "# Changelog\n\n## 0.1.0 (not tagged yet)\n\nThe first version.\n",
	})
	s.git("init", "--quiet", "--initial-branch=main")
	s.commit("Begin")
	return s
}

func (s *shop) write(files map[string]string) {
	s.Helper()
	for name, text := range files {
		name = filepath.Join(s.dir, filepath.FromSlash(name))
		must(s, os.MkdirAll(filepath.Dir(name), 0o755))
		must(s, os.WriteFile(name, []byte(text), 0o644))
	}
}

func (s *shop) replace(name, old, replacement string) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	must(s, err)
	if !strings.Contains(string(text), old) {
		s.Fatalf("%s has no %q", name, old)
	}
	s.write(map[string]string{name: strings.Replace(string(text), old, replacement, 1)})
}

func (s *shop) git(args ...string) string {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "git", args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (s *shop) commit(subject string) {
	s.Helper()
	s.git("add", "--all")
	s.git("commit", "--quiet", "--message="+subject)
}

// releases tags a version, as a person does it.
func (s *shop) releases(version string) {
	s.Helper()
	s.replace("CHANGELOG.md", "(not tagged yet)", "(2026-12-01)")
	s.run("version", version)
	s.commit("Release " + version)
	s.run("tag", version)
}

// begins writes the heading of the next version.
func (s *shop) begins(version, text string) {
	s.Helper()
	s.replace("CHANGELOG.md", "## ", "## "+version+" (not tagged yet)\n\n"+text+"\n\n## ")
}

// run runs release.sh, as a person does it in the root of the repository.
func (s *shop) run(args ...string) string {
	s.Helper()
	out, err := s.try(args...)
	if err != nil {
		s.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

func (s *shop) try(args ...string) (string, error) {
	script, err := filepath.Abs("release.sh")
	must(s, err)
	cmd := exec.CommandContext(s.Context(), "bash", append([]string{script}, args...)...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// refused wants an error with all phrases.
func (s *shop) refused(args []string, phrases ...string) {
	s.Helper()
	out, err := s.try(args...)
	if err == nil {
		s.Errorf("%v: not refused:\n%s", args, out)
		return
	}
	for _, phrase := range phrases {
		if !strings.Contains(out, phrase) {
			s.Errorf("%v: %q is not in %v", args, phrase, out)
		}
	}
}

func (s *shop) hasTags(want ...string) {
	s.Helper()
	if has := strings.Fields(s.git("tag", "--list")); !slices.Equal(has, want) {
		s.Errorf("tags %v, want %v", has, want)
	}
}
