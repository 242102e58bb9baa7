package scanner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Store is where a Scanner keeps between processes what it knows of holders and findings:
// see [WithMemory]. A Store is used by one goroutine at a time.
type Store interface {
	// Load returns what Save was given last, and nil without an error if that was never.
	Load(ctx context.Context) ([]byte, error)
	// Save replaces it. If it fails or is interrupted, what was there stays.
	Save(ctx context.Context, data []byte) error
}

// fileStore is a file.
type fileStore string

// FileStore keeps the memory in a file, which only its owner may read. Save writes another
// file beside it, has the disk keep that, and gives it the name: a crash leaves the old
// file or the new one. Two processes that use one file at a time lose what one of them knew,
// no more.
func FileStore(path string) Store { return fileStore(path) }

// Load implements Store.
func (f fileStore) Load(context.Context) ([]byte, error) {
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Save implements Store.
func (f fileStore) Save(_ context.Context, data []byte) error {
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

// MemoryError says that what a Scanner knows of holders and findings could not be read or
// kept. The sweep was done all the same; that a holder has its lock for long may take it
// longer to find.
type MemoryError struct {
	Op  string // "load" or "save"
	Err error
}

func (e *MemoryError) Error() string { return fmt.Sprintf("scanner: %s memory: %v", e.Op, e.Err) }

// Unwrap returns the Store's own error.
func (e *MemoryError) Unwrap() error { return e.Err }
