package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// tagAll tags HEAD for every module: all of them, or none if git refuses one.
func tagAll(all []*released, version string, out io.Writer) error {
	root := all[0].root
	if err := checkVersion(version); err != nil {
		return err
	}
	if err := ready(all, version); err != nil {
		return err
	}
	var transaction strings.Builder
	names := make([]string, 0, len(all))
	for _, m := range all {
		names = append(names, m.tag(version))
		fmt.Fprintf(&transaction, "create refs/tags/%s HEAD\n", m.tag(version))
	}
	// Git takes all lines of its input as one transaction.
	if _, err := git(root, transaction.String(), "update-ref", "--stdin"); err != nil {
		return fmt.Errorf("no tag was made: %w", err)
	}
	fmt.Fprintf(out, "%d tags on HEAD. Push them at once, because the modules require each other:\n\n"+
		"git push --atomic origin %s\n", len(names), strings.Join(names, " "))
	return nil
}

// ready says everything that stands against tagging HEAD.
func ready(all []*released, version string) error {
	var problems []error
	add := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	root := all[0].root
	if changed, err := git(root, "", "status", "--porcelain"); err != nil {
		return err
	} else if changed != "" {
		add("the tree differs from HEAD: commit or remove\n%s", changed)
	}
	existing, err := tags(root)
	if err != nil {
		return err
	}
	for _, m := range all {
		if existing[m.tag(version)] {
			add("the tag %s exists: a version never changes, so take the next one", m.tag(version))
		}
		for _, r := range m.file.Require {
			if isReleased(all, r.Mod.Path) && r.Mod.Version != version {
				add("%s requires %s: run \"go run . -version %s\" and commit", m.folder, r.Mod, version)
			}
		}
	}
	first, err := firstEntry(root)
	if err != nil {
		return err
	}
	if first.version != version || first.date == "" {
		add("the first heading of CHANGELOG.md is not \"## %s (YYYY-MM-DD)\"", strings.TrimPrefix(version, "v"))
	}
	return errors.Join(problems...)
}
