package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// killers remembers which test noticed which mutant, by their names, so that the next run starts with that test. If that
// test no longer notices the mutant, all other tests run on it. It is safe for concurrent use.
type killers struct {
	mu   sync.Mutex
	test map[string]string
}

// readKillers reads what write has written. A file that is not there is an empty one.
func readKillers(path string) (*killers, error) {
	k := &killers{test: map[string]string{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	test := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if mutant, ok := strings.CutPrefix(line, "\t"); ok {
			k.test[mutant] = test
		} else {
			test = line
		}
	}
	return k, err
}

func (k *killers) of(m mutant) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.test[m.String()]
}

func (k *killers) add(m mutant, test string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.test[m.String()] = test
}

// keep forgets all mutants but these.
func (k *killers) keep(all []mutant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	left := map[string]string{}
	for _, m := range all {
		if test, ok := k.test[m.String()]; ok {
			left[m.String()] = test
		}
	}
	k.test = left
}

// write writes the tests, and below each the mutants that it noticed.
func (k *killers) write(path string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	by := map[string][]string{}
	for mutant, test := range k.test {
		by[test] = append(by[test], mutant)
	}
	var text strings.Builder
	for _, test := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[test])
		fmt.Fprintf(&text, "%s\n\t%s\n", test, strings.Join(by[test], "\n\t"))
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}
