package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bug is one planted bug: a patch of one file, whose header names the test that must fail.
type bug struct {
	name  string // area/slug: its file below bugs, without the suffix
	what  string // what is wrong then
	why   string // what comes of it
	patch string // the patch
	file  string // what it changes, from the root of the repository

	replaces bool // the patch removes lines

	killer killer

	// equivalent argues that no test can tell the bug from the original. Such a one is planted all the same, must
	// survive, and is not counted among the killed.
	equivalent string
}

// killer is the test that must fail.
type killer struct {
	pkg   string // from the root of the repository
	run   string // names of the test and of its subtest, without anchors: TestA or TestA/b_c
	hangs bool   // the test notices by not coming to an end
}

// pattern is what -test.run takes.
func (k killer) pattern() string {
	return "^" + strings.ReplaceAll(k.run, "/", "$/^") + "$"
}

// readBugs reads the bugs of the checkout, in the order of their names.
func readBugs(root string) (all []bug, err error) {
	folder, err := filepath.Abs(filepath.Join(root, "lock", "proof", "mutate", "bugs"))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.patch"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return nil, err
		}
		b, err := readBug(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.name = filepath.ToSlash(strings.TrimSuffix(name, ".patch"))
		all = append(all, b)
	}
	return all, nil
}

// readBug reads one patch.
func readBug(file string) (b bug, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return b, err
	}
	b.patch = file
	header, diff, _ := strings.Cut(string(text), "\n\n")
	for line := range strings.Lines(header) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "bug":
			b.what = value
		case "why":
			b.why = value
		case "test":
			b.killer.pkg, b.killer.run, _ = strings.Cut(value, " ")
		case "hangs":
			b.killer.hangs = value == "yes"
		case "equivalent":
			b.equivalent = value
		default:
			return b, fmt.Errorf("unknown key %q", key)
		}
	}
	b.replaces = strings.Contains(diff, "\n-")
	_, changed, _ := strings.Cut(diff, "\n+++ b/")
	b.file, _, _ = strings.Cut(changed, "\n")
	if b.what == "" || b.why == "" || b.killer.run == "" || b.file == "" {
		return b, errors.New("its header needs bug, why and test (package and name), and a diff of one file follows")
	}
	return b, nil
}

// plant copies the bug's file into dir, applies the patch there, and returns where the result is.
func (b bug) plant(root, dir string) (planted string, err error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(b.file)))
	if err != nil {
		return "", err
	}
	planted = filepath.Join(dir, filepath.FromSlash(b.file))
	if err := os.MkdirAll(filepath.Dir(planted), 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(planted, text, 0o600); err != nil {
		return "", err
	}
	if err := b.apply(dir); err != nil {
		return "", fmt.Errorf("%s no longer fits %s: make the change there by hand, and put `git diff` of it below "+
			"the header of the patch: %w", b.patch, b.file, err)
	}
	return planted, nil
}

// apply accepts a place whose lines have moved. Where lines beside the place have changed, less context will do if it
// fits one place only: then the patch cannot be applied a second time.
func (b bug) apply(dir string) error {
	full := gitApply(dir, b.patch)
	if full == nil {
		return nil
	}
	less := []string{"-C1"}
	if b.replaces { // what only adds lines has no place without context
		less = append(less, "-C0")
	}
	for _, context := range less {
		if gitApply(dir, context, b.patch) != nil {
			continue
		}
		if gitApply(dir, context, b.patch) == nil {
			return errors.New("its context fits more than one place")
		}
		return nil
	}
	return full
}

// gitApply runs git apply in a folder that is no part of a repository, whatever is above it.
func gitApply(dir string, args ...string) error {
	cmd := exec.Command("git", append([]string{"apply", "--whitespace=nowarn"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git apply: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
