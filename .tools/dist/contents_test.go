package dist

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const licencesFile, documents, settingsFile = "THIRD_PARTY_LICENCES", "/usr/share/doc/lockscope/", "/etc/lockscope/lockscope.env"

// archives: one a platform. That of this machine runs, and names its version.
func (d *distribution) archives(t *testing.T) {
	for system := range strings.SplitSeq(*systems, ", ") {
		suffix := map[bool]string{true: ".zip", false: ".tar.gz"}[system == "windows"]
		for _, arch := range []string{"amd64", "arm64"} {
			d.one(t, "lockscope_0.0.0-dist.1_"+system+"_"+arch+suffix)
		}
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

// image is a valid OCI layout with both platforms. Its binary runs in the image's own file system as the image's user, where the test may
// become that.
func (d *distribution) image(t *testing.T) {
	layout := t.TempDir()
	output(t, layout, "tar", "-xf", d.one(t, "*_image.oci.tar"))
	var index, platforms struct {
		Manifests []struct {
			Digest      string
			Annotations map[string]string
			Platform    struct{ OS, Architecture string }
		}
	}
	must(t, json.Unmarshal([]byte(read(t, layout, "index.json")), &index))
	if len(index.Manifests) != 1 || index.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != version[1:] {
		t.Fatalf("%+v", index)
	}
	blob(t, layout, index.Manifests[0].Digest, &platforms)
	root, built := t.TempDir(), ""
	for _, m := range platforms.Manifests {
		built += m.Platform.OS + "/" + m.Platform.Architecture + " "
		if m.Platform.Architecture == runtime.GOARCH {
			unpack(t, layout, m.Digest, root)
		}
	}
	if built != "linux/amd64 linux/arm64 " {
		t.Errorf("%s", built)
	}
	must(t, os.Chmod(filepath.Dir(root), 0o755))
	must(t, os.Chmod(root, 0o755))
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

// unpack extracts the layers of an image, whose configuration it checks.
func unpack(t *testing.T, layout, digest, root string) {
	t.Helper()
	var manifest struct {
		Config struct{ Digest string }
		Layers []struct{ Digest string }
	}
	var image struct {
		Config struct {
			User       string
			Entrypoint []string
		}
	}
	blob(t, layout, digest, &manifest)
	blob(t, layout, manifest.Config.Digest, &image)
	if image.Config.User != "65532:65532" || len(image.Config.Entrypoint) != 1 || image.Config.Entrypoint[0] != "/lockscope" {
		t.Errorf("%+v", image)
	}
	for _, l := range manifest.Layers {
		cmd := exec.CommandContext(t.Context(), "tar", "-xz", "--no-same-owner", "-C", root)
		cmd.Stdin = bytes.NewReader(blob(t, layout, l.Digest, nil))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}

// blob reads what a digest names, into v if there is one.
func blob(t *testing.T, layout, digest string, v any) []byte {
	t.Helper()
	text := read(t, layout, "blobs/"+strings.Replace(digest, ":", "/", 1))
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))); sum != digest {
		t.Errorf("%s has the digest %s", digest, sum)
	}
	if v != nil {
		must(t, json.Unmarshal([]byte(text), v))
	}
	return []byte(text)
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
