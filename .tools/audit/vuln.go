package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// errVulnerable means that the code of a module calls something vulnerable.
var errVulnerable = errors.New("vulnerable code is called: raise what is named above, and run make tidy")

// How close the code of a module comes to vulnerable code.
const (
	called   = "called"
	imported = "imported, not called"
	required = "required, not imported"
)

// finding is what govulncheck -format json says of a vulnerability, more and more exactly.
type finding struct {
	OSV   string `json:"osv"`
	Fixed string `json:"fixed_version"`
	Trace []struct {
		Module   string `json:"module"`
		Version  string `json:"version"`
		Package  string `json:"package"`
		Function string `json:"function"`
	} `json:"trace"`
}

func (f *finding) nearness() string {
	switch at := f.Trace[0]; {
	case at.Function != "":
		return called
	case at.Package != "":
		return imported
	}
	return required
}

// builder is in no release, but what it is compiled with touches each.
var builder = &examined{folder: ".tools/dist"}

// vulnerabilities runs govulncheck in source mode on each module and the builder, or the one in the folder only.
func vulnerabilities(all []*examined, only, database string) error {
	program, err := govulncheck()
	if err != nil {
		return err
	}
	var failed error
	for _, m := range append(slices.Clone(all), builder) {
		if only != "" && only != m.folder {
			continue
		}
		found, err := m.vulnerabilities(program, database)
		if err != nil {
			return fmt.Errorf("%s: %w", m.folder, err)
		}
		fmt.Printf("%s: %d found\n", m.folder, len(found))
		for _, f := range found {
			at := f.Trace[0]
			fmt.Printf("\t%s\t%s %s\tfixed in %s\t%s\n", f.OSV, at.Module, at.Version, cmp.Or(f.Fixed, "no version"),
				f.nearness())
			if f.nearness() == called {
				failed = errVulnerable
			}
		}
	}
	return failed
}

// vulnerabilities returns the nearest finding of each vulnerability.
func (m *examined) vulnerabilities(program, database string) ([]finding, error) {
	env, remove, err := m.alone()
	if err != nil {
		return nil, err
	}
	defer remove()
	args := []string{"-format", "json"}
	if database != "" {
		args = append(args, "-db", database)
	}
	cmd := exec.Command(program, append(args, "./...")...)
	cmd.Dir, cmd.Env, cmd.Stderr = filepath.Join(root, m.folder), env, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	return nearest(bytes.NewReader(out))
}

// nearest reads the messages of govulncheck, which reports what is called after what is imported and required.
func nearest(messages io.Reader) (all []finding, err error) {
	for decoder := json.NewDecoder(messages); ; {
		var message struct {
			Finding *finding `json:"finding"`
		}
		switch err := decoder.Decode(&message); {
		case errors.Is(err, io.EOF):
			slices.SortFunc(all, func(a, b finding) int {
				return cmp.Or(cmp.Compare(a.nearness(), b.nearness()), cmp.Compare(a.OSV, b.OSV))
			})
			return all, nil
		case err != nil:
			return nil, err
		}
		f := message.Finding
		if f == nil || len(f.Trace) == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(g finding) bool { return g.OSV == f.OSV })
		switch {
		case i < 0:
			all = append(all, *f)
		case f.nearness() < all[i].nearness():
			all[i] = *f
		}
	}
}

// govulncheck builds the program in the version that .tools/go.mod names.
func govulncheck() (path string, err error) {
	cmd := exec.Command("go", "tool", "-modfile", filepath.Join(root, ".tools", "go.mod"), "-n", "govulncheck")
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build govulncheck: %w%s", err, stderrOf(err))
	}
	return strings.TrimSpace(string(out)), nil
}
