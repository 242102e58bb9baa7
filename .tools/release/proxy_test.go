package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// writeProxy writes what a module proxy answers for version of all modules to folder, as the tree stands: GOPROXY takes
// its file:// URL. See https://go.dev/ref/mod#goproxy-protocol.
func writeProxy(all []*released, folder, version string, now time.Time) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	for _, m := range all {
		escaped, err := module.EscapePath(m.path)
		if err != nil {
			return err
		}
		dir := filepath.Join(folder, filepath.FromSlash(escaped), "@v")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		mod, err := m.goMod(all, version)
		if err != nil {
			return err
		}
		info, err := json.Marshal(map[string]any{"Version": version, "Time": now.UTC()})
		if err != nil {
			return err
		}
		for name, text := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version +
			".mod": mod} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
				return err
			}
		}
		if err := writeZip(m, filepath.Join(dir, version+".zip"), version, mod); err != nil {
			return err
		}
	}
	return nil
}

// writeZip packs a module as Go packs a tag of the repository: without the modules nested in it and what git ignores,
// with the licence of the root, and with mod for its go.mod. So the sums are those that a tag of this tree will have.
func writeZip(m *released, name, version string, mod []byte) (err error) {
	files, err := m.files(mod)
	if err != nil {
		return err
	}
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return modzip.Create(out, module.Version{Path: m.path, Version: version}, files)
}

func (m *released) files(mod []byte) ([]modzip.File, error) {
	checked, err := modzip.CheckDir(m.dir())
	if len(checked.Valid) == 0 {
		return nil, fmt.Errorf("%s has no files: %w", m.dir(), err)
	}
	ignored, err := m.ignored()
	if err != nil {
		return nil, err
	}
	files := []modzip.File{packed{name: "go.mod", text: mod}}
	licence := filepath.Join(m.root, "LICENSE")
	for _, path := range checked.Valid {
		name, err := filepath.Rel(m.dir(), path)
		if err != nil {
			return nil, err
		}
		if name = filepath.ToSlash(name); name == "LICENSE" {
			licence = path
		} else if name != "go.mod" && !ignored[name] {
			files = append(files, packed{name: name, path: path})
		}
	}
	return append(files, packed{name: "LICENSE", path: licence}), nil
}

// ignored are a module's files that are not for git, such as what make dist writes.
func (m *released) ignored() (map[string]bool, error) {
	list := exec.Command("git", "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	list.Dir = m.dir()
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	ignored := make(map[string]bool)
	for name := range strings.SplitSeq(string(out), "\x00") {
		ignored[name] = true
	}
	return ignored, nil
}

// packed is a file of a module: that at path, or text.
type packed struct {
	name, path string
	text       []byte
}

func (p packed) Path() string { return p.name }

func (p packed) Lstat() (os.FileInfo, error) {
	if p.path == "" {
		return textInfo{p}, nil
	}
	return os.Lstat(p.path)
}

func (p packed) Open() (io.ReadCloser, error) {
	if p.path == "" {
		return io.NopCloser(bytes.NewReader(p.text)), nil
	}
	return os.Open(p.path)
}

// textInfo describes a file that is only in memory.
type textInfo struct{ p packed }

func (i textInfo) Name() string       { return path.Base(i.p.name) }
func (i textInfo) Size() int64        { return int64(len(i.p.text)) }
func (i textInfo) Mode() os.FileMode  { return 0o644 }
func (i textInfo) ModTime() time.Time { return time.Time{} }
func (i textInfo) IsDir() bool        { return false }
func (i textInfo) Sys() any           { return nil }
