package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/locktest"

	"github.com/lockscope/lockscope/lock/proof/mutate/bugs"
)

const root = "../../.."

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMutantsFitTheTree: what each replaces is there, what comes of it is Go, and the test that is to notice is there,
// too. Whether it does is for make mutate to say.
func TestMutantsFitTheTree(t *testing.T) {
	mutants := bugs.All()
	if len(mutants) < 36 {
		t.Errorf("only %d bugs", len(mutants))
	}
	seen := make(map[string]bool)
	for _, m := range mutants {
		if m.Bug == "" || m.Why == "" || seen[m.Bug] {
			t.Errorf("bug %q because %q: it has no words, or another has the same", m.Bug, m.Why)
		}
		seen[m.Bug] = true
		text, err := m.Apply(readFile(t, m.File))
		if err != nil {
			t.Errorf("%s: %v", m.Bug, err)
			continue
		}
		if strings.HasSuffix(m.File, ".go") {
			if _, err := parser.ParseFile(token.NewFileSet(), m.File, text, 0); err != nil {
				t.Errorf("%s: %v", m.Bug, err)
			}
		}
		if name, _, _ := strings.Cut(m.Killer.Run, "/"); !hasTest(t, m.Killer.Package, name) {
			t.Errorf("%s: %s has no test %s", m.Bug, m.Killer.Package, name)
		}
	}
}

// hasTest reports that a package has a test function of this name.
func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(t \*testing\.T\)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if function.Match(text) {
			return true
		}
	}
	return false
}

// scriptParts are the files of each script, as lock/redlock/internal/scripts puts them together.
var scriptParts = [][]string{
	{"acquire", "handoff", "refuse"}, {"raise"}, {"extend"}, {"release", "handoff", "namenext"}, {"handoff", "leave"},
	{"quarantine"},
	{"mark"}, {"replace"},
}

// TestMutantScriptsAreScripts: one that is none fails every test, and shows nothing.
func TestMutantScriptsAreScripts(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { _ = client.Close() })
	loaded := 0
	for _, m := range bugs.All() {
		name, isScript := strings.CutSuffix(filepath.Base(m.File), ".lua")
		if !isScript {
			continue
		}
		for _, parts := range scriptParts {
			source, concerned := "", false
			for _, part := range parts {
				text := readFile(t, "lock/redlock/internal/scripts/"+part+".lua")
				if part == name {
					concerned = true
					text, _ = m.Apply(text)
				}
				source += text
			}
			if !concerned {
				continue
			}
			loaded++
			if err := client.ScriptLoad(t.Context(), source).Err(); err != nil {
				t.Errorf("%s: %v", m.Bug, err)
			}
		}
	}
	if loaded < 10 {
		t.Errorf("%d scripts: the check looks at nothing", loaded)
	}
}
