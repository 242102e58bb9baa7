package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// release is one version of the binary, on its way to the folder out.
type release struct {
	version   string
	root, out string
	report    io.Writer
	when      time.Time // of every file: that of the commit
	work      string    // a folder for intermediate files
	binaries  []binary
	files     []file // manual pages and the like, which every platform gets
}

// file is a file to deliver: its text, and its path in an archive.
type file struct {
	path string
	text []byte
	mode os.FileMode
}

// number is the version as packages have it.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// name is that of a delivered file.
func (r *release) name(rest string) string {
	return filepath.Join(r.out, "lockscope_"+r.number()+"_"+rest)
}

// make builds everything. What it wrote before an error stays there, without SHA256SUMS.
func (r *release) make(platforms []string, s signer) (err error) {
	if r.when, err = commitTime(r.root); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "lockscope-dist-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return r.build(platforms) }, r.describe, r.archives, r.materials, r.packages, r.image,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := writeSums(r.out); err != nil {
		return err
	}
	if err := r.list(); err != nil {
		return err
	}
	return s.sign(r.out, r.report)
}

// commitTime is SOURCE_DATE_EPOCH if that is set, else when HEAD was committed.
func commitTime(root string) (time.Time, error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		cmd := exec.Command("git", "log", "-1", "--format=%ct")
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("git log: %w: outside of a git repository, set SOURCE_DATE_EPOCH", err)
		}
		epoch = strings.TrimSpace(string(out))
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// list prints what was delivered, with sizes.
func (r *release) list() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(r.report, "%6.1f MB  %s\n", float64(info.Size())/1e6, e.Name())
	}
	return nil
}
