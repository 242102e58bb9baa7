//go:build linux

package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Writer appends lines of JSON to a file, each with a single write: a worker that is killed
// has written all that it has told, but for the end of its last line perhaps. Its methods
// may be called concurrently.
type Writer struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

// Create makes the file, or empties it.
func Create(path string) (*Writer, error) {
	f, err := os.Create(path)
	return &Writer{file: f}, err
}

// Write adds a line. Close reports the first that failed.
func (w *Writer) Write(v any) {
	line, err := json.Marshal(v)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		_, err = w.file.Write(append(line, '\n'))
	}
	if w.err == nil {
		w.err = err
	}
}

// Close closes the file and returns the first error there was.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.err, w.file.Close())
}

// Read returns the lines of a file, in order. A last line that was cut off is left out, if
// mayBeCut says that its writer was killed; any other line that cannot be read is an error.
func Read[T any](path string, mayBeCut bool) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []T
	r := bufio.NewReaderSize(f, 1<<20)
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && (len(line) == 0 || mayBeCut) {
			return all, nil
		}
		if err != nil {
			return all, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		var v T
		if err := json.Unmarshal(bytes.TrimSpace(line), &v); err != nil {
			return all, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		all = append(all, v)
	}
}
