package main

import (
	"errors"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/tools/go/packages"
)

// api loads what a module exports, for the system that runs the check.
func (m *released) api() (*apidiff.Module, error) {
	work, err := filepath.Abs(filepath.Join(m.root, filepath.FromSlash(m.work)))
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes, Dir: m.dir(), Env: append(os.Environ(), "GOWORK="+work),
	}, "./...")
	if err != nil {
		return nil, err
	}
	var exported []*types.Package
	var failed []error
	for _, p := range loaded {
		for _, e := range p.Errors {
			failed = append(failed, fmt.Errorf("%s: %w", p.PkgPath, e))
		}
		if p.Name != "main" && !strings.Contains(p.PkgPath+"/", "/internal/") {
			exported = append(exported, p.Types)
		}
	}
	return &apidiff.Module{Path: m.path, Packages: exported}, errors.Join(failed...)
}

// difference is what changed in the API of a module since it was released as last.
type difference struct {
	last                     string
	incompatible, compatible []string
}

func compare(old, current *released, last string) (difference, error) {
	d := difference{last: last}
	was, err := old.api()
	if err != nil {
		return d, fmt.Errorf("%s at %s: %w", old.path, last, err)
	}
	is, err := current.api()
	if err != nil {
		return d, err
	}
	for _, change := range apidiff.ModuleChanges(was, is).Changes {
		if change.Compatible {
			d.compatible = append(d.compatible, change.Message)
		} else {
			d.incompatible = append(d.incompatible, change.Message)
		}
	}
	return d, nil
}
