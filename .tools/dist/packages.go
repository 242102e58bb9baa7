package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages writes a deb and an rpm for each platform of Linux.
func (r *release) packages() error {
	for _, b := range r.binaries {
		for _, format := range []string{"deb", "rpm"} {
			if b.os != "linux" {
				continue
			}
			if err := r.pack(b, format); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) pack(b binary, format string) (err error) {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	contents, err := r.contents(b, format)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "lockscope", Arch: b.arch, Platform: "linux", Version: r.version, Release: "1", Section: "admin",
		Priority: "optional", Maintainer: "The lockscope authors <lockscope@users.noreply.github.com>",
		Description: "Find leaked distributed locks, list holders and waiters, run commands under a lock\n" +
			"One static binary for locks of any library in Redis, PostgreSQL, etcd and ZooKeeper.",
		Homepage: "https://github.com/lockscope/lockscope", License: "Apache-2.0", MTime: r.when,
		Overridables: nfpm.Overridables{
			Contents: contents,
			RPM: nfpm.RPM{BuildHost: "localhost",
				Summary: "Find leaked distributed locks, list holders and waiters"},
		},
	})
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(r.out, packager.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return packager.Package(info, out)
}

// contents lays the files of a package out below the work folder, where nfpm reads them.
func (r *release) contents(b binary, format string) (files.Contents, error) {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return nil, err
	}
	all, err := r.packaged(format)
	if err != nil {
		return nil, err
	}
	var contents files.Contents
	for _, f := range sorted(append(all, file{"/usr/bin/lockscope", program, 0o755})) {
		source := filepath.Join(r.work, "packages", b.arch, format, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(source, f.text, 0o644); err != nil {
			return nil, err
		}
		c := &files.Content{Source: source, Destination: f.path,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: f.mode, MTime: r.when}}
		if f.path == settingsFile {
			c.Type = files.TypeConfigNoReplace
		}
		contents = append(contents, c)
	}
	return contents, nil
}
