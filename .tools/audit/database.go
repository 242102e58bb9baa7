package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// vulndb is the Go vulnerability database as a module. Where the live database cannot be reached, the module proxy may
// be.
const vulndb = "golang.org/x/vulndb@v0.0.0-20261105234957-e22db6528018"

// entry is what the index needs of a report in the OSV format.
type entry struct {
	ID       string   `json:"id"`
	Aliases  []string `json:"aliases"`
	Affected []struct {
		Package struct {
			Name string `json:"name"`
		} `json:"package"`
	} `json:"affected"`
}

// vuln is an entry of index/vulns.json, and of index/modules.json.
type vuln struct {
	ID       string    `json:"id"`
	Modified time.Time `json:"modified"`
	Aliases  []string  `json:"aliases,omitempty"`
}

type vulnerable struct {
	Path  string `json:"path"`
	Vulns []vuln `json:"vulns"`
}

// storedDatabase makes a database of the module, as https://go.dev/doc/security/vuln/database lays it out.
func storedDatabase() (url string, remove func(), err error) {
	path, version, _ := strings.Cut(vulndb, "@")
	at, err := module.PseudoVersionTime(version)
	if err != nil {
		return "", nil, err
	}
	out, err := exec.Command("go", "mod", "download", "-json", vulndb).Output()
	if err != nil {
		return "", nil, fmt.Errorf("download %s: %w%s", vulndb, err, stderrOf(err))
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(out, &got); err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "lockscope-vulndb-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the system empties its own folder anyway
	n, err := writeDatabase(dir, filepath.Join(got.Dir, "data", "osv"), at)
	if err != nil {
		remove()
		return "", nil, err
	}
	fmt.Printf("database: %s, of %s, with %d reports\n", path, at.UTC().Format(time.RFC3339), n)
	return "file://" + filepath.ToSlash(dir), remove, nil
}

// writeDatabase copies the reports in osv, and makes the indexes.
func writeDatabase(dir, osv string, at time.Time) (reports int, err error) {
	files, err := filepath.Glob(filepath.Join(osv, "*.json"))
	if err != nil || len(files) == 0 {
		return 0, errors.Join(err, fmt.Errorf("no reports in %s", osv))
	}
	vulns, modules := []vuln{}, map[string]*vulnerable{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		vulns = append(vulns, vuln{ID: e.ID, Modified: at, Aliases: e.Aliases})
		e.addTo(modules, at)
		if err := write(filepath.Join(dir, "ID", e.ID+".json"), text); err != nil {
			return 0, err
		}
	}
	byPath := make([]*vulnerable, 0, len(modules))
	for _, m := range modules {
		byPath = append(byPath, m)
	}
	slices.SortFunc(byPath, func(a, b *vulnerable) int { return strings.Compare(a.Path, b.Path) })
	return len(files), errors.Join(
		writeJSON(filepath.Join(dir, "index", "db.json"), map[string]time.Time{"modified": at}),
		writeJSON(filepath.Join(dir, "index", "vulns.json"), vulns),
		writeJSON(filepath.Join(dir, "index", "modules.json"), byPath))
}

// addTo enters the report at each module that it affects. The index may name the version that fixes it; without one,
// govulncheck reads the report itself.
func (e *entry) addTo(modules map[string]*vulnerable, at time.Time) {
	for _, a := range e.Affected {
		m := modules[a.Package.Name]
		if m == nil {
			m = &vulnerable{Path: a.Package.Name}
			modules[a.Package.Name] = m
		}
		if !slices.ContainsFunc(m.Vulns, func(v vuln) bool { return v.ID == e.ID }) {
			m.Vulns = append(m.Vulns, vuln{ID: e.ID, Modified: at})
		}
	}
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

func writeJSON(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return write(name, text)
}
