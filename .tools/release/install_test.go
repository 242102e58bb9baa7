package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
)

// user is somebody with the go command, no checkout, and a proxy that has this tree as a version.
type user struct {
	version string
	env     []string
	cache   string // of modules
}

// newUser shares the module cache of the user that runs the test, so that nothing is downloaded or compiled twice; the
// version is one nobody else has, and is removed from the cache afterwards.
func newUser(t *testing.T, all []*released) *user {
	t.Helper()
	now := time.Now()
	u := &user{version: fmt.Sprintf("v0.0.0-tree.%d", now.UnixNano())}
	proxy := t.TempDir()
	must(t, writeProxy(all, proxy, u.version, now))
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	must(t, err)
	cache, proxies, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	t.Cleanup(func() { forget(t, cache, all, u.version) })
	u.cache = cache
	u.env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-modcacherw",
		"GONOSUMDB=github.com/lockscope/*", "GOPROXY=file://"+proxy+","+proxies)
	return u
}

// forget removes a version of all modules from the module cache.
func forget(t *testing.T, cache string, all []*released, version string) {
	for _, m := range all {
		escaped, err := module.EscapePath(m.path)
		must(t, err)
		files, err := filepath.Glob(filepath.Join(cache, "cache", "download", filepath.FromSlash(escaped), "@v",
			version+".*"))
		must(t, err)
		for _, name := range append(files, filepath.Join(cache, filepath.FromSlash(escaped)+"@"+version)) {
			must(t, os.RemoveAll(name))
		}
	}
}

func (u *user) run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, u.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// platforms are those that users build for. A test runs what is built for its own.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// on is the user who builds for a platform.
func (u *user) on(platform string) *user {
	goos, arch, _ := strings.Cut(platform, "/")
	return &user{u.version, append(slices.Clone(u.env), "GOOS="+goos, "GOARCH="+arch), u.cache}
}

// TestUser has one version for all that users do with it: each version is compiled by itself.
func TestUser(t *testing.T) {
	all := repository(t)
	u := newUser(t, all)
	t.Run("installs", u.installs)
	for _, m := range all {
		imported := packagesOf(t, m)
		if len(imported) == 0 {
			continue // it has programs only, and those are installed
		}
		t.Run("requires "+m.path, func(t *testing.T) { u.requires(t, m, imported) })
	}
}

// installs: the programs of a release are installed by their path and version, for each platform, and the binary runs.
func (u *user) installs(t *testing.T) {
	bin := t.TempDir()
	programs := []string{"exporter/cmd/lockscope", "examples/demo"}
	for _, program := range programs {
		path := "github.com/lockscope/lockscope/" + program + "@" + u.version
		(&user{u.version, append(slices.Clone(u.env), "GOBIN="+bin), u.cache}).run(t, bin, "go", "install", path)
		for _, platform := range platforms { // where GOBIN may not be set
			cross := u.on(platform)
			cross.env = append(cross.env, "GOBIN=", "GOPATH="+filepath.Join(bin, "go"), "GOMODCACHE="+u.cache)
			cross.run(t, bin, "go", "install", "-trimpath", path)
		}
	}
	if found, err := filepath.Glob(filepath.Join(bin, "go", "bin", "*_*", "*")); len(found) != len(programs)*
		(len(platforms)-1) {
		t.Errorf("%v, %v", found, err)
	}
	if out := u.run(t, bin, filepath.Join(bin, "lockscope"), "--version"); !strings.Contains(out, u.version) {
		t.Errorf("the binary of %s says %s", u.version, out)
	}
}

// requires: a program that needs one module of a release builds with what that module requires, for each platform.
func (u *user) requires(t *testing.T, m *released, imported []string) {
	dir := t.TempDir()
	var source strings.Builder
	source.WriteString("package shop\n\nimport (\n")
	for _, path := range imported {
		fmt.Fprintf(&source, "\t_ %q\n", path)
	}
	source.WriteString(")\n")
	must(t, os.WriteFile(filepath.Join(dir, "shop.go"), []byte(source.String()), 0o644))
	u.run(t, dir, "go", "mod", "init", "example.com/shop")
	u.run(t, dir, "go", "get", m.path+"@"+u.version)
	u.run(t, dir, "go", "build", "-mod=mod", ".")
	for _, platform := range platforms {
		u.on(platform).run(t, dir, "go", "build", "-trimpath", ".")
	}
}

// packagesOf lists what others can import of a module.
func packagesOf(t *testing.T, m *released) (paths []string) {
	t.Helper()
	for _, fields := range list(t, m, "{{if .GoFiles}}{{.ImportPath}} {{.Name}}{{end}}") {
		if fields[1] != "main" && !strings.Contains(fields[0]+"/", "/internal/") {
			paths = append(paths, fields[0])
		}
	}
	return paths
}

// list runs go list for the packages of a module within its workspace.
func list(t *testing.T, m *released, format string) (lines [][]string) {
	t.Helper()
	work, err := filepath.Abs(filepath.Join(root, m.work))
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", format, "./...")
	cmd.Dir, cmd.Env = m.dir(), append(os.Environ(), "GOWORK="+work)
	out, err := cmd.Output()
	must(t, err)
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, fields)
		}
	}
	return lines
}
