package lock_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeShowsTheExample compares the README's code with the Example that is compiled here.
func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := between(t, string(readme), "<!-- example -->\n```go\n", "```\n<!-- /example -->")
	if body := exampleBody(t); shown != body {
		t.Errorf("README.md shows\n%s\nand example_test.go has\n%s", shown, body)
	}
}

// TestReadmeStatesThePromise compares the promises of README.md and of the package doc, word for word. A test in
// lock/proof does so for EVIDENCE.md.
func TestReadmeStatesThePromise(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	words := func(text, marks string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(text, marks, "")), " ")
	}
	promised := words(between(t, string(doc), "// # The promise\n//\n", "\n//\n// # "), "//")
	if quoted := words(between(t, string(readme), "## What is promised\n\n", "\n\n"), ">"); quoted != promised {
		t.Errorf("the package doc promises\n%s\nand README.md\n%s", promised, quoted)
	}
}

func between(t *testing.T, text, begin, end string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, begin)
	middle, _, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("no %q ... %q", begin, end)
	}
	return middle
}

// exampleBody returns the body of Example without its indentation.
func exampleBody(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "Example" {
			body := string(source[files.Position(f.Body.Lbrace).Offset+2 : files.Position(f.Body.Rbrace).Offset])
			var b strings.Builder
			for line := range strings.Lines(body) {
				b.WriteString(strings.TrimPrefix(line, "\t"))
			}
			return b.String()
		}
	}
	t.Fatal("no func Example")
	return ""
}

// TestArchitectureNamesWhatIsThere: the folders and tests that ARCHITECTURE.md names exist.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, named := 0, 0
	for _, match := range regexp.MustCompile("`([a-z]+(?:/[a-z]+)+)`").FindAllStringSubmatch(string(page), -1) {
		folders++
		if !slices.ContainsFunc([]string{"../", "redlock/"},
			func(dir string) bool { _, err := os.Stat(dir + match[1]); return err == nil }) {
			t.Errorf("there is no %s", match[1])
		}
	}
	tests := testFunctions(t)
	for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(page), -1) {
		named++
		if !slices.ContainsFunc(tests, func(test string) bool { return strings.HasPrefix(test, name) }) {
			t.Errorf("there is no %s", name)
		}
	}
	if folders < 10 || named < 20 {
		t.Errorf("%d folders and %d tests named: the check looks at nothing", folders, named)
	}
}

func testFunctions(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "*/*/*_test.go", "*/*/*/*_test.go",
		"../exporter/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
				names = append(names, string(m[1]))
			}
		}
	}
	return names
}
