package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// program is what a release delivers.
const program = "github.com/lockscope/lockscope/exporter/cmd/lockscope"

var everyPlatform = []string{
	"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64",
}

// binary is the program for one platform.
type binary struct {
	os, arch string
	path     string
}

func (b binary) name() string { return filepath.Base(b.path) }

// platform is the part of a file's name.
func (b binary) platform() string { return b.os + "_" + b.arch }

// build installs the program from a proxy of the tree, by its path and version, as a user of the version does. So the
// binary names its own version and those of all modules. A user who installs that version with the same flags and Go
// gets the same bytes.
func (r *release) build(platforms []string) error {
	proxy := filepath.Join(r.work, "proxy")
	cmd := exec.Command("go", "run", ".", "-root", "../..", "-version", r.version, "-proxy", proxy)
	cmd.Dir, cmd.Env = filepath.Join(r.root, ".tools", "release"), append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("a module proxy of the tree: %w\n%s", err, out)
	}
	env, err := r.environment(proxy)
	if err != nil {
		return err
	}
	for _, platform := range platforms {
		goos, arch, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("%q is no platform: it is like linux/amd64", platform)
		}
		b, err := r.install(goos, arch, env)
		if err != nil {
			return err
		}
		r.binaries = append(r.binaries, b)
	}
	return nil
}

// environment is that of a go command without a workspace. It keeps modules in a folder of its own, because the version
// may be another one in the end, and takes what it can from the user's module cache.
func (r *release) environment(proxy string) ([]string, error) {
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	cache, proxies, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw", "GONOSUMDB=github.com/lockscope/*",
		"GOPATH="+filepath.Join(r.work, "go"), "GOBIN=", "GOMODCACHE="+filepath.Join(r.work, "cache"),
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(cache, "cache", "download")+","+proxies,
		"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off"), nil
}

func (r *release) install(goos, arch string, env []string) (binary, error) {
	cmd := exec.Command("go", "install", "-trimpath", "-ldflags=-s -w", program+"@"+r.version)
	cmd.Env = append(env, "GOOS="+goos, "GOARCH="+arch)
	cmd.Dir = r.work
	if out, err := cmd.CombinedOutput(); err != nil {
		return binary{}, fmt.Errorf("go install for %s/%s: %w\n%s", goos, arch, err, out)
	}
	folder, name := filepath.Join(r.work, "go", "bin"), "lockscope"
	if goos != runtime.GOOS || arch != runtime.GOARCH {
		folder = filepath.Join(folder, goos+"_"+arch)
	}
	if goos == "windows" {
		name += ".exe"
	}
	b := binary{goos, arch, filepath.Join(folder, name)}
	info, err := buildinfo.ReadFile(b.path)
	if err != nil {
		return b, err
	}
	if info.Main.Version != r.version {
		return b, fmt.Errorf("%s is version %s, not %s", b.path, info.Main.Version, r.version)
	}
	return b, nil
}
