// Package campaignlines tells how far the code of the locks is from the code that a campaign ran on. A campaign
// records a hash of each line; the record is committed beside EVIDENCE.md, and a test compares it with the tree.
// No history of versions is needed for that.
package campaignlines

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// patterns are the files that a campaign on Redis speaks for, below the folder lock: the engine, the seam, and the
// driver with its scripts and its guard. Tests are not among them.
var patterns = []string{
	"*.go", "internal/carried/*.go", "internal/text/*.go", "locktrace/*.go", "engine/*.go", "engine/*/*.go", "engine/internal/*/*.go",
	"driver/*.go", "waitgraph/*.go", "redlock/*.go", "redlock/internal/*/*.go", "redlock/internal/*/*.lua",
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

// Changed is how many lines of one record are not in the other, or the other way round, whichever are more: file by
// file, where one that moved to another folder is the same file. A line that moved, within its file or to another,
// has not changed.
func (r *Record) Changed(now *Record) (n int) {
	gone, came := make(map[string][]string), make(map[string][]string)
	for name, lines := range r.Files {
		gone[name] = lines
	}
	for name, lines := range now.names(r) {
		came[name] = missing(lines, gone[name])
		gone[name] = missing(gone[name], lines)
	}
	goneAnywhere, cameAnywhere := joined(gone), joined(came)
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		n += max(len(unmoved(gone[name], cameAnywhere)), len(unmoved(came[name], goneAnywhere)))
	}
	return n
}

// names are the files of a record, under the names that they have in the other one: a file that only the other has,
// with the same name in another folder, is the same.
func (r *Record) names(other *Record) map[string][]string {
	moved := make(map[string]string) // by what they are called now
	for _, was := range slices.Sorted(maps.Keys(other.Files)) {
		if _, still := r.Files[was]; still {
			continue
		}
		for _, is := range slices.Sorted(maps.Keys(r.Files)) {
			_, before := other.Files[is]
			if _, taken := moved[is]; !before && !taken && path.Base(is) == path.Base(was) {
				moved[is] = was
				break
			}
		}
	}
	all := make(map[string][]string)
	for is, lines := range r.Files {
		all[cmp.Or(moved[is], is)] = lines
	}
	return all
}

// missing are those of these lines that are not among the others.
func missing(these, others []string) []string { return unmoved(these, count(others)) }

// unmoved are the lines that are not to be had elsewhere; those that are can be had no more.
func unmoved(lines []string, elsewhere map[string]int) (all []string) {
	for _, h := range lines {
		if elsewhere[h]--; elsewhere[h] < 0 {
			all = append(all, h)
		}
	}
	return all
}

func count(lines []string) map[string]int {
	n := make(map[string]int)
	for _, h := range lines {
		n[h]++
	}
	return n
}

func joined(files map[string][]string) map[string]int {
	return count(slices.Concat(slices.Collect(maps.Values(files))...))
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
