// Package campaignlines tells how far the code of the locks is from the code that a campaign ran on. A campaign
// records a hash of each line; the record is committed beside EVIDENCE.md, and a test compares it with the tree.
// No history of versions is needed for that.
package campaignlines

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// patterns are the files that a campaign on Redis speaks for, below the folder lock: the engine, the seam, and the
// driver with its scripts and its guard. Tests are not among them.
var patterns = []string{
	"*.go", "driver/*.go", "waitgraph/*.go", "redlock/*.go", "redlock/internal/*/*.go", "redlock/internal/*/*.lua",
	"redlock/guard/*.go", "redlock/redisconn/*.go", "redlock/redisinfo/*.go", "redlock/hashslot/*.go",
}

// Record is the code of one campaign.
type Record struct {
	Of    string              // the campaign: when, which commit, which seed
	Files map[string][]string // the hashes of the lines of each file, below the folder lock, in their order
}

// Read makes the record of the code in a tree; lock is its folder of that name.
func Read(lock, of string) (*Record, error) {
	r := &Record{Of: of, Files: make(map[string][]string)}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(lock, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(lock, path)
			if err != nil {
				return nil, err
			}
			r.Files[filepath.ToSlash(name)] = hashes(string(text))
		}
	}
	if len(r.Files) == 0 {
		return nil, fmt.Errorf("campaignlines: %s has no code of a lock", lock)
	}
	return r, nil
}

// hashes are of the lines that do something: neither blank lines nor comments count, nor how a line is indented.
func hashes(text string) (all []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "--") {
			continue
		}
		h := fnv.New32a()
		_, _ = io.WriteString(h, line)
		all = append(all, base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:3]))
	}
	return all
}

// Lines is how many lines there are.
func (r *Record) Lines() (n int) {
	for _, lines := range r.Files {
		n += len(lines)
	}
	return n
}

// Changed is how many lines of one record are not in the same file of the other, or the other way round, whichever
// are more in that file. A line that moved within its file has not changed; one that moved to another file has.
func (r *Record) Changed(now *Record) (n int) {
	for name, lines := range r.Files {
		n += max(missing(lines, now.Files[name]), missing(now.Files[name], lines))
	}
	for name, lines := range now.Files {
		if _, known := r.Files[name]; !known {
			n += len(lines)
		}
	}
	return n
}

// missing is how many of these lines are not among the others.
func missing(these, others []string) (n int) {
	left := make(map[string]int)
	for _, h := range others {
		left[h]++
	}
	for _, h := range these {
		if left[h]--; left[h] < 0 {
			n++
		}
	}
	return n
}

// Write prints the record: the campaign, and a line for each file.
func (r *Record) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, r.Of)
	names := make([]string, 0, len(r.Files))
	for name := range r.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintln(b, name, strings.Join(r.Files[name], ""))
	}
	return b.Flush()
}

// hashLength is how long the hash of a line is, as text.
const hashLength = 4

// Parse reads what Write printed.
func Parse(text string) (*Record, error) {
	of, rest, ok := strings.Cut(text, "\n")
	if !ok || of == "" {
		return nil, fmt.Errorf("campaignlines: a record begins with its campaign")
	}
	r := &Record{Of: of, Files: make(map[string][]string)}
	for line := range strings.Lines(rest) {
		name, all, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || len(all)%hashLength != 0 {
			return nil, fmt.Errorf("campaignlines: the record of %q is no list of hashes", name)
		}
		for ; all != ""; all = all[hashLength:] {
			r.Files[name] = append(r.Files[name], all[:hashLength])
		}
	}
	return r, nil
}
