package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// archives: one a platform. That of this machine runs, and names its version.
func (d *distribution) archives(t *testing.T) {
	for platform := range strings.SplitSeq(*platforms, ",") {
		name := "lockscope_0.0.0-dist.1_" + strings.ReplaceAll(platform, "/", "_") + ".tar.gz"
		if strings.HasPrefix(platform, "windows/") {
			name = strings.TrimSuffix(name, ".tar.gz") + ".zip"
		}
		d.one(t, name)
	}
	dir := t.TempDir()
	output(t, dir, "tar", "-xzf", d.one(t, "*_linux_"+runtime.GOARCH+".tar.gz"))
	if out := output(t, dir, "./lockscope", "version"); out != "lockscope "+version+"\n" {
		t.Errorf("version: %s", out)
	}
	wants(t, output(t, dir, "man", "-l", "man/lockscope-scan.1"), "lockscope-scan", "SYNOPSIS")
	output(t, dir, "bash", "-n", "completion/lockscope")
	licences(t, filepath.Join(dir, licencesFile))
}

// licences has the text of a licence of each module that the binary is linked with.
func licences(t *testing.T, name string) {
	t.Helper()
	wants(t, read(t, "", name), "== github.com/redis/go-redis/v9/LICENSE\n", "== go.opentelemetry.io/otel/LICENSE\n",
		"Redistribution and use in source and binary forms", "Permission is hereby granted", "Apache License")
}

// materials names the program, the modules of this repository and those of others, each with a sum.
func (d *distribution) materials(t *testing.T) {
	var bom struct {
		BOMFormat, SpecVersion string
		Metadata               struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version string }
	}
	text := read(t, "", d.one(t, "*_linux_"+runtime.GOARCH+".cdx.json"))
	must(t, json.Unmarshal([]byte(text), &bom))
	if main := bom.Metadata.Component; bom.BOMFormat != "CycloneDX" || main.Version != version ||
		main.Name != "github.com/lockscope/lockscope/exporter/cmd/lockscope" {
		t.Errorf("%+v", bom)
	}
	versions := map[string]string{}
	for _, c := range bom.Components {
		versions[c.Name] = c.Version
	}
	if versions["github.com/lockscope/lockscope"] != version || versions["github.com/redis/go-redis/v9"] == "" ||
		versions["std"] == "" {
		t.Errorf("%v", versions)
	}
}

// image is a valid OCI layout. Its binary runs in the image's own file system as the image's user, where the test may
// become that.
func (d *distribution) image(t *testing.T) {
	dir := t.TempDir()
	output(t, dir, "tar", "-xf", d.one(t, "*_image.oci.tar"))
	index, err := layout.ImageIndexFromPath(dir)
	must(t, err)
	must(t, validate.Index(index))
	manifest, err := index.IndexManifest()
	must(t, err)
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] == "" {
		t.Fatalf("%+v", manifest)
	}
	inner, err := index.ImageIndex(manifest.Manifests[0].Digest)
	must(t, err)
	image := imageFor(t, inner)
	config, err := image.ConfigFile()
	must(t, err)
	if config.Config.User != nobody || len(config.RootFS.DiffIDs) != 2 || config.Config.Entrypoint[0] != "/lockscope" {
		t.Errorf("%+v", config)
	}
	root := t.TempDir()
	must(t, os.Chmod(filepath.Dir(root), 0o755))
	must(t, os.Chmod(root, 0o755))
	cmd := exec.CommandContext(t.Context(), "tar", "-x", "--no-same-owner", "-C", root)
	cmd.Stdin = mutate.Extract(image)
	must(t, cmd.Run())
	if files := tree(t, root); len(files) != 4 || files["/lockscope"] != 0o755 ||
		files["/etc/ssl/certs/ca-certificates.crt"] != 0o644 || files["/LICENSE"] != 0o644 {
		t.Errorf("%v", files)
	}
	licences(t, filepath.Join(root, licencesFile))
	if os.Getuid() != 0 {
		t.Log("not root: the image is not run")
		return
	}
	run := exec.CommandContext(t.Context(), "/lockscope", "version")
	run.Dir, run.Env = "/", []string{}
	run.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	out, err := run.CombinedOutput()
	if err != nil || string(out) != "lockscope "+version+"\n" {
		t.Errorf("in the image: %v\n%s", err, out)
	}
}

func imageFor(t *testing.T, index v1.ImageIndex) v1.Image {
	t.Helper()
	manifest, err := index.IndexManifest()
	must(t, err)
	for _, m := range manifest.Manifests {
		if m.Platform.Architecture == runtime.GOARCH {
			image, err := index.Image(m.Digest)
			must(t, err)
			return image
		}
	}
	t.Fatalf("no image for %s", runtime.GOARCH)
	return nil
}

// deb is what dpkg takes: its files are unpacked to a folder, and tried there.
func (d *distribution) deb(t *testing.T) {
	name := d.one(t, "*_"+runtime.GOARCH+".deb")
	wants(t, output(t, d.dir, "dpkg-deb", "--field", name), "Package: lockscope", "Architecture: "+runtime.GOARCH,
		"Version: 0.0.0~dist.1-1")
	root := t.TempDir()
	output(t, root, "dpkg-deb", "-x", name, root)
	files := tree(t, root)
	for path, mode := range map[string]os.FileMode{
		"/usr/bin/lockscope": 0o755, "/usr/share/man/man1/lockscope-scan.1.gz": 0o644,
		"/usr/share/man/man7/lockscope-exit-codes.7.gz":       0o644,
		"/usr/share/bash-completion/completions/lockscope":    0o644,
		"/usr/share/zsh/vendor-completions/_lockscope":        0o644,
		"/usr/share/fish/vendor_completions.d/lockscope.fish": 0o644,
		"/usr/lib/systemd/system/lockscope-scan.timer":        0o644, "/etc/lockscope/lockscope.env": 0o644,
		"/usr/share/doc/lockscope/copyright": 0o644, documents + licencesFile: 0o644,
	} {
		if files[path] != mode {
			t.Errorf("%s has mode %o, want %o", path, files[path], mode)
		}
	}
	if out := output(t, root, filepath.Join(root, "usr/bin/lockscope"), "version"); out != "lockscope "+version+"\n" {
		t.Errorf("version: %s", out)
	}
	licences(t, filepath.Join(root, documents, licencesFile))
	wants(t, output(t, root, "man", "-l", "usr/share/man/man1/lockscope-scan.1.gz"), "lockscope-scan")
	wants(t, output(t, root, "dpkg-deb", "--info", name, "conffiles"), settingsFile)
	units(t, root)
}

// units lets systemd read the units of a package, with the binary where it was unpacked.
func units(t *testing.T, root string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "usr/lib/systemd/system", "lockscope-*"))
	must(t, err)
	if len(found) != 3 {
		t.Fatalf("%v", found)
	}
	dir := t.TempDir()
	var copied []string
	for _, unit := range found {
		text := strings.ReplaceAll(read(t, "", unit), "/usr/bin/lockscope", filepath.Join(root, "usr/bin/lockscope"))
		copied = append(copied, filepath.Join(dir, filepath.Base(unit)))
		must(t, os.WriteFile(copied[len(copied)-1], []byte(text), 0o644))
	}
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Fatal("systemd-analyze is not installed (Debian: apt-get install systemd)")
	}
	args := append([]string{"verify", "--man=no", "--recursive-errors=no"}, copied...)
	if out := output(t, dir, "systemd-analyze", args...); strings.Contains(out, "lockscope-") {
		t.Errorf("systemd-analyze verify:\n%s", out)
	}
}

// rpm has the same files in the places of its distributions.
func (d *distribution) rpm(t *testing.T) {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	name := d.one(t, "*."+arch+".rpm")
	if _, err := exec.LookPath("rpm"); err != nil {
		t.Fatal("rpm is not installed (Debian: apt-get install rpm cpio)")
	}
	wants(t, output(t, d.dir, "rpm", "--query", "--info", "--package", name), "Name        : lockscope",
		"Version     : 0.0.0~dist.1", "License     : Apache-2.0", "Build Host  : localhost")
	wants(t, output(t, d.dir, "rpm", "--query", "--list", "--package", name), "/usr/bin/lockscope\n",
		"/usr/share/man/man1/lockscope-scan.1.gz\n", "/usr/share/zsh/site-functions/_lockscope\n",
		"/usr/lib/systemd/system/lockscope-serve.service\n")
	wants(t, output(t, d.dir, "rpm", "--query", "--configfiles", "--package", name), settingsFile)
	wants(t, output(t, d.dir, "rpm", "--checksig", "--nosignature", name), "digests OK")
	root := t.TempDir()
	// The names in it are absolute: without the option, cpio would write to this machine's own folders.
	output(t, root, "sh", "-c", "rpm2cpio '"+name+
		"' | cpio --extract --make-directories --no-absolute-filenames --quiet")
	if out := output(t, root, "usr/bin/lockscope", "version"); out != "lockscope "+version+"\n" {
		t.Errorf("version: %s", out)
	}
}
