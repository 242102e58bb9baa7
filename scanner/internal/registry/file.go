package registry

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// File is the path of a file, which only its owner may read.
type File string

// Load returns the content of the file, and nil if there is none.
func (f File) Load(context.Context) ([]byte, error) {
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// leftAfter is the age of a file that no Save is still writing.
const leftAfter = time.Hour

// Save writes and syncs another file beside it, and renames that.
func (f File) Save(_ context.Context, data []byte) error {
	dir := filepath.Dir(string(f))
	f.removeLeft(dir)
	temp, err := os.CreateTemp(dir, filepath.Base(string(f))+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), string(f))
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return syncDir(dir)
}

// removeLeft removes what processes left that died during a Save. What it cannot remove does no harm.
func (f File) removeLeft(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if middle, ok := strings.CutPrefix(e.Name(), filepath.Base(string(f))+"."); !ok || !leftName.MatchString(middle) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// leftName is the end of the names that Save gives.
var leftName = regexp.MustCompile(`^[0-9]+\.tmp$`)

// syncDir syncs a file's new name to disk. It ignores systems where directories cannot be synced.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}
