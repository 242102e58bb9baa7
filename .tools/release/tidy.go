package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tidy runs go mod tidy in all modules. It finds what they require of each other in a proxy of the tree, and leaves out
// of each go.sum what the next change of the tree would make wrong. The module cache of the user stays as it is.
func tidy(all []*released) (err error) {
	dir, err := os.MkdirTemp("", "lockscope-tidy-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, m := range all {
		version, ok := requiredVersion(all, m)
		if !ok {
			continue
		}
		if err := writeProxy([]*released{m}, filepath.Join(dir, "proxy"), version, time.Now()); err != nil {
			return err
		}
	}
	env, err := environment(dir)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := tidyModule(all, m, env); err != nil {
			return err
		}
	}
	return nil
}

// requiredVersion is the version of a module that others require.
func requiredVersion(all []*released, m *released) (string, bool) {
	for _, other := range all {
		for _, r := range other.file.Require {
			if r.Mod.Path == m.path {
				return r.Mod.Version, true
			}
		}
	}
	return "", false
}

// environment is that of a go command outside of any workspace, which asks the proxy in dir first, then what was
// downloaded before.
func environment(dir string) ([]string, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	cache, proxies, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "GONOSUMDB=github.com/lockscope/*",
			"GOMODCACHE="+filepath.Join(dir, "cache"),
			"GOPROXY=file://"+filepath.Join(dir, "proxy")+",file://"+filepath.Join(cache, "cache", "download")+","+
				proxies),
		nil
}

func tidyModule(all []*released, m *released, env []string) error {
	cmd := exec.Command("go", "mod", "tidy")
	cmd.Dir, cmd.Env = m.dir(), env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod tidy in %s: %w\n%s", m.folder, err, out)
	}
	name := filepath.Join(m.dir(), "go.sum")
	sums, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var kept bytes.Buffer
	for line := range strings.Lines(string(sums)) {
		if path, _, _ := strings.Cut(line, " "); !isReleased(all, path) {
			kept.WriteString(line)
		}
	}
	return os.WriteFile(name, kept.Bytes(), 0o644)
}

func isReleased(all []*released, path string) bool {
	for _, m := range all {
		if m.path == path {
			return true
		}
	}
	return false
}
