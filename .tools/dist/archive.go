package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"slices"
	"time"
)

// archives writes one archive a platform, with the binary, the licence, manual pages and completions.
func (r *release) archives() error {
	for _, b := range r.binaries {
		text, err := os.ReadFile(b.path)
		if err != nil {
			return err
		}
		files := append(slices.Clone(r.files), file{b.name(), text, 0o755})
		pack, suffix := tarGz, ".tar.gz"
		if b.os == "windows" {
			pack, suffix = zipFile, ".zip"
		}
		var packed bytes.Buffer
		if err := pack(&packed, files, r.when); err != nil {
			return err
		}
		if err := os.WriteFile(r.name(b.platform()+suffix), packed.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sorted orders files by their path: the order of what a build writes must not depend on anything else.
func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.path, b.path) })
}

func tarGz(to io.Writer, files []file, when time.Time) error {
	w, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := tarFile(w, files, when); err != nil {
		return err
	}
	return w.Close()
}

// tarFile writes files that belong to root, all as of one time.
func tarFile(to io.Writer, files []file, when time.Time) error {
	w := tar.NewWriter(to)
	for _, f := range sorted(files) {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: int64(f.mode.Perm()), Size: int64(len(f.text)),
			ModTime: when, Format: tar.FormatPAX}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(f.text); err != nil {
			return err
		}
	}
	return w.Close()
}

func zipFile(to io.Writer, files []file, when time.Time) error {
	w := zip.NewWriter(to)
	for _, f := range sorted(files) {
		header := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: when}
		header.SetMode(f.mode)
		in, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := in.Write(f.text); err != nil {
			return err
		}
	}
	return w.Close()
}
