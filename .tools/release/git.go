package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

// git runs git in the repository and returns what it prints.
func git(root, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	var errOut bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stderr = root, strings.NewReader(stdin), &errOut
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, errOut.Bytes())
	}
	return string(out), nil
}

// tags are those that git lists with args.
func tags(root string, args ...string) (map[string]bool, error) {
	out, err := git(root, "", append([]string{"tag", "--list"}, args...)...)
	if err != nil {
		return nil, err
	}
	listed := make(map[string]bool)
	for _, tag := range strings.Fields(out) {
		listed[tag] = true
	}
	return listed, nil
}

// before lists the tags of earlier commits. That of HEAD itself is not among them, so that a check of a release that
// was tagged a moment ago compares it with the one before.
func before(root string) (map[string]bool, error) {
	if _, err := git(root, "", "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return nil, fmt.Errorf("there is no commit to check: %w", err)
	}
	return tags(root, "--merged", "HEAD", "--no-contains", "HEAD")
}

// last is the highest release of a module among tags, or "". Nothing was promised of what a pre-release has.
func (m *released) last(tags map[string]bool) (version string) {
	for tag := range tags {
		v, ok := strings.CutPrefix(tag, m.tag(""))
		if ok && semver.Canonical(v) == v && semver.Prerelease(v) == "" && semver.Compare(v, version) > 0 {
			version = v
		}
	}
	return version
}

// extract writes the tree of a tag to a new folder below dir.
func extract(root, tag, dir string) (tree string, err error) {
	packed := filepath.Join(dir, strings.ReplaceAll(tag, "/", "_")+".zip")
	if _, err := git(root, "", "archive", "--format=zip", "--output="+packed, "refs/tags/"+tag); err != nil {
		return "", err
	}
	in, err := zip.OpenReader(packed)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	tree = strings.TrimSuffix(packed, ".zip")
	return tree, os.CopyFS(tree, in)
}
