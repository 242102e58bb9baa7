package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// mostText bounds a configuration file.
const mostText = 1 << 20

// Load reads and checks a file. It connects to nothing and reads no secret. Everything
// wrong with the text is one error, [*Problems]; others are those of reading the file.
func Load(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, mostText+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostText {
		return nil, fmt.Errorf("%s: a configuration has at most %d bytes", path, mostText)
	}
	return parse(path, text)
}

func parse(path string, text []byte) (*File, error) {
	f := &File{path: path, lines: make(map[string]int)}
	p := &problems{file: path, lines: f.lines}
	f.decode(text, p)
	if len(p.all) == 0 {
		f.check(p)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return f, nil
}

// Problem makes an error of what is wrong with a part of the file, such as a group.
func (f *File) Problem(path string, err error) error {
	p := &problems{file: f.path, lines: f.lines}
	p.add(path, "%v", err)
	return p.err()
}

// file is a path as the configuration has it: relative to where that is.
func (f *File) file(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.path), path)
}
