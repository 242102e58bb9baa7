package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// check compares the exported API of every module with its last tag, and looks for versions that nobody can download.
// It prints what changed, and returns everything that the version under way does not allow.
func check(all []*released, out io.Writer) (err error) {
	root := all[0].root
	first, err := firstEntry(root)
	if err != nil {
		return err
	}
	published, err := before(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lockscope-check-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintf(out, "The first version in CHANGELOG.md is %s.\n", first.version)
	c := &checking{all: all, first: first, published: published, dir: dir, out: out,
		trees: make(map[string][]*released)}
	if err := c.modules(); err != nil {
		return err
	}
	if err := c.requirements(); err != nil {
		return err
	}
	return errors.Join(c.problems...)
}

type checking struct {
	all       []*released
	first     entry
	published map[string]bool        // the tags
	dir       string                 // for the trees of tags
	trees     map[string][]*released // the modules of each
	out       io.Writer
	problems  []error
}

func (c *checking) add(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf(format, args...))
}

// tree is the repository as it was at a tag.
func (c *checking) tree(tag string) ([]*released, error) {
	commit, err := git(c.all[0].root, "", "rev-parse", "refs/tags/"+tag+"^{commit}")
	if err != nil {
		return nil, err
	}
	if c.trees[commit] == nil {
		tree, err := extract(c.all[0].root, tag, c.dir)
		if err != nil {
			return nil, err
		}
		if c.trees[commit], err = modules(tree); err != nil {
			return nil, fmt.Errorf("%s: %w", tag, err)
		}
	}
	return c.trees[commit], nil
}

func (c *checking) modules() error {
	compared := 0
	for _, m := range c.all {
		last := m.last(c.published)
		if last == "" {
			fmt.Fprintf(c.out, "%s: no tag yet, nothing to compare with\n", m.path)
			continue
		}
		old, err := c.tree(m.tag(last))
		if err != nil {
			return err
		}
		if m.folder == "." {
			c.removed(old, last)
		}
		was := find(old, m.path)
		if was == nil {
			return fmt.Errorf("the tag %s exists, but the workspaces of its tree do not name %s", m.tag(last), m.path)
		}
		d, err := compare(was, m, last)
		if err != nil {
			return err
		}
		c.judge(m, d)
		compared++
	}
	if compared == 0 {
		fmt.Fprintln(c.out, "No module has a tag before this commit: no API was compared.")
	}
	return nil
}

// removed reports modules that were released and are no longer.
func (c *checking) removed(old []*released, last string) {
	for _, was := range old {
		if find(c.all, was.path) == nil && !breaks(last, c.first.version) {
			c.add("the module %s of %s is gone: %s", was.path, last, remedy(last))
		}
	}
}

func (c *checking) judge(m *released, d difference) {
	fmt.Fprintf(c.out, "%s: since %s, incompatible changes: %d, compatible: %d\n", m.path, d.last,
		len(d.incompatible), len(d.compatible))
	for _, message := range d.incompatible {
		fmt.Fprintf(c.out, "  incompatible: %s\n", message)
	}
	for _, message := range d.compatible {
		fmt.Fprintf(c.out, "  compatible: %s\n", message)
	}
	switch {
	case len(d.incompatible) == 0:
	case semver.Compare(c.first.version, d.last) <= 0:
		c.add("%s breaks users of %s, and CHANGELOG.md has no entry after that version: %s", m.path, d.last,
			remedy(d.last))
	case c.first.text == "":
		c.add("%s breaks users of %s, and the entry %s of CHANGELOG.md is empty: say what they have to change", m.path,
			d.last, c.first.version)
	case !breaks(d.last, c.first.version):
		c.add("%s breaks users of %s, which %s may not: %s", m.path, d.last, c.first.version, remedy(d.last))
	}
}

// breaks says whether the version next may be incompatible with last: the next major one may, and before v1 the next
// minor one.
func breaks(last, next string) bool {
	if semver.Major(last) == "v0" {
		return semver.Compare(semver.MajorMinor(next), semver.MajorMinor(last)) > 0
	}
	return semver.Compare(semver.Major(next), semver.Major(last)) > 0
}

func remedy(last string) string {
	level := "major"
	if semver.Major(last) == "v0" {
		level = "minor"
	}
	return "undo the change, or begin an entry for the next " + level + " version"
}

// requirements looks at every go.mod for versions of this repository's modules that are neither tagged nor under way.
func (c *checking) requirements() error {
	root := c.all[0].root
	listed, err := git(root, "", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--",
		"go.mod", "**/go.mod")
	if err != nil {
		return err
	}
	files := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed, and not committed yet
		}
		if err != nil {
			return err
		}
		file, err := modfile.Parse(name, text, nil)
		if err != nil {
			return err
		}
		c.required(name, file)
		files++
	}
	fmt.Fprintf(c.out, "%d go.mod files were searched for versions that are not published.\n", files)
	return nil
}

func (c *checking) required(name string, file *modfile.File) {
	base := find(c.all, "").path
	replaced := make(map[string]bool)
	for _, r := range file.Replace {
		replaced[r.Old.Path] = r.New.Version == "" // by a folder
	}
	for _, r := range file.Require {
		path, version := r.Mod.Path, r.Mod.Version
		if path != base && !strings.HasPrefix(path, base+"/") || replaced[path] {
			continue
		}
		m := find(c.all, path)
		switch {
		case m == nil:
			c.add("%s requires %s, which is not released: replace it by its folder", name, r.Mod)
		case version != c.first.version && !c.published[m.tag(version)]:
			c.add("%s requires %s, which is neither tagged nor the version under way, %s: "+
				"run \"go run . -version %[3]s\"", name, r.Mod, c.first.version)
		}
	}
}

// find returns the module with a path, or the one in the root if path is empty.
func find(all []*released, path string) *released {
	for _, m := range all {
		if m.path == path || path == "" && m.folder == "." {
			return m
		}
	}
	return nil
}
