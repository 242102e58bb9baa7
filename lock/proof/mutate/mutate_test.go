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

// planted are all bugs.
func planted(t *testing.T) []bug {
	t.Helper()
	all, err := readBugs(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 300 {
		t.Fatalf("only %d bugs", len(all))
	}
	return all
}

// TestBugsFitTheTree: each patch applies, what comes of it is Go, and the test that is to notice exists. Whether it
// does is for make mutate to say.
func TestBugsFitTheTree(t *testing.T) {
	dir, tests := t.TempDir(), map[string]map[string]bool{} // by package
	for _, b := range planted(t) {
		file, err := b.plant(root, dir)
		if err != nil {
			t.Error(err)
			continue
		}
		if strings.HasSuffix(file, ".go") {
			if _, err := parser.ParseFile(token.NewFileSet(), file, nil, 0); err != nil {
				t.Errorf("%s: %v", b.name, err)
			}
		}
		if tests[b.killer.pkg] == nil {
			tests[b.killer.pkg] = testsOf(t, b.killer.pkg)
		}
		if name, _, _ := strings.Cut(b.killer.run, "/"); !tests[b.killer.pkg][name] {
			t.Errorf("%s: %s has no test %s", b.name, b.killer.pkg, name)
		}
	}
}

// testsOf are the names of the test functions of a package.
func testsOf(t *testing.T, pkg string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range function.FindAllSubmatch(text, -1) {
			names[string(found[1])] = true
		}
	}
	return names
}

var function = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// scriptParts are the files of each script, as lock/redlock/internal/scripts puts them together.
var scriptParts = [][]string{
	{"acquire", "handoff", "refuse"}, {"raise"}, {"extend"}, {"release", "handoff", "namenext"}, {"handoff", "leave"},
	{"quarantine"},
	{"mark"}, {"replace"},
}

// TestPlantedScriptsAreScripts: one that is none fails every test, and shows nothing.
func TestPlantedScriptsAreScripts(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: locktest.Servers(t, 1)[0].Addr()})
	t.Cleanup(func() { _ = client.Close() })
	loaded := 0
	for _, b := range planted(t) {
		name, isScript := strings.CutSuffix(filepath.Base(b.file), ".lua")
		if !isScript {
			continue
		}
		file, err := b.plant(root, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, parts := range scriptParts {
			source, concerned := "", false
			for _, part := range parts {
				script := filepath.Join(root, "lock/redlock/internal/scripts", part+".lua")
				if part == name {
					script, concerned = file, true
				}
				text, err := os.ReadFile(script)
				if err != nil {
					t.Fatal(err)
				}
				source += string(text)
			}
			if !concerned {
				continue
			}
			loaded++
			if err := client.ScriptLoad(t.Context(), source).Err(); err != nil {
				t.Errorf("%s: %v", b.name, err)
			}
		}
	}
	if loaded < 10 {
		t.Errorf("%d scripts: the check looks at nothing", loaded)
	}
}
