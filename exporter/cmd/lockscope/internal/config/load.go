package config

import (
	"fmt"
	"io"
	"os"
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
		return nil, fmt.Errorf("%s: too large: use at most %d bytes", path, mostText)
	}
	return Parse(path, text)
}

// Parse reads a text that is, or was, a file of this path.
func Parse(path string, text []byte) (*File, error) {
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
