package compose_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const configFlag = "--config.file"

// inContainer copies what is mounted into a service to a directory, and returns what
// turns the container's paths into those below it.
func inContainer(t *testing.T, svc service) *strings.Replacer {
	t.Helper()
	dir := t.TempDir()
	var pairs []string
	for _, m := range svc.mounts(t) {
		here := filepath.Join(dir, m.target)
		pairs = append(pairs, m.target, here)
		info, err := os.Stat(m.source)
		switch {
		case m.volume:
			must(t, os.MkdirAll(here, 0o755))
		case err != nil:
			t.Fatal(err)
		case info.IsDir():
			must(t, os.CopyFS(here, os.DirFS(m.source)))
		default:
			write(t, here, read(t, m.source))
		}
	}
	return strings.NewReplacer(pairs...)
}

var ruleFiles = regexp.MustCompile(`(?m)^  - (/\S+)$`)

// prometheusHere is the configuration of Prometheus with the rules it is given, out
// of the container, and where it lies.
func prometheusHere(t *testing.T, s stack) string {
	t.Helper()
	svc := s.Services["prometheus"]
	here := inContainer(t, svc)
	text := svc.file(t, svc.flag(t, configFlag))
	for _, m := range ruleFiles.FindAllStringSubmatch(text, -1) {
		if found, err := filepath.Glob(here.Replace(m[1])); err != nil || len(found) != 3 {
			t.Fatalf("rules at %s: %q, %v", m[1], found, err)
		}
	}
	path := here.Replace(svc.flag(t, configFlag))
	write(t, path, ruleFiles.ReplaceAllStringFunc(text, here.Replace))
	return path
}
