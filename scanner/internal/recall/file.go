package recall

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is the path of a file, which only its owner may read.
type File string

// Load returns what the file has, and nil if there is none.
func (f File) Load(context.Context) ([]byte, error) {
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Save writes another file beside it, has the disk keep that, and gives it the name.
func (f File) Save(_ context.Context, data []byte) error {
	dir := filepath.Dir(string(f))
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

// syncDir has the disk keep a file's new name. Where directories cannot be synced, that is
// the system's own affair.
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
