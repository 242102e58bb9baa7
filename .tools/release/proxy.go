package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
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

// writeZip packs a module without the modules nested in it, and with mod for its go.mod.
func writeZip(m *released, name, version string, mod []byte) (err error) {
	var packed bytes.Buffer
	if err := modzip.CreateFromDir(&packed, module.Version{Path: m.path, Version: version}, m.dir()); err != nil {
		return err
	}
	in, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := zip.NewWriter(file)
	goMod := m.path + "@" + version + "/go.mod"
	for _, f := range in.File {
		if f.Name != goMod {
			if err := out.Copy(f); err != nil {
				return err
			}
			continue
		}
		w, err := out.Create(goMod)
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, bytes.NewReader(mod)); err != nil {
			return err
		}
	}
	return out.Close()
}
