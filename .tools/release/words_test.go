package release

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// avoided is a line of testdata/words.txt.
type avoided struct {
	pattern *regexp.Regexp
	instead string
}

// passage is a run of prose, and the line on which it begins.
type passage struct {
	line int
	text string
}

// TestWords looks for the phrases of testdata/words.txt in Markdown files, and in the comments and strings of Go files
// that are not tests. testdata/words_allowed.txt lists the files and folders that still have some. To widen the test,
// edit one of them, run the test with -v, which lists the entries that are clean, and remove their lines.
func TestWords(t *testing.T) {
	words := avoidedWords(t)
	unused := make(map[string]bool)
	allowed := listed(t, "words_allowed.txt")
	for _, entry := range allowed {
		unused[entry] = true
	}
	files := 0
	for _, name := range proseFiles(t) {
		files++
		for _, p := range passages(t, name) {
			for _, w := range words {
				found := w.pattern.FindString(p.text)
				if found == "" {
					continue
				}
				if entry, ok := covering(allowed, name); ok {
					delete(unused, entry)
				} else {
					t.Errorf("%s:%d: %q: instead, %s", name, p.line, found, w.instead)
				}
			}
		}
	}
	if files < 500 {
		t.Errorf("%d files read: the check looks at nothing", files)
	}
	for entry := range unused {
		t.Logf("%s is clean: remove it from words_allowed.txt", entry)
	}
}

// covering is the first entry that names this file or, if it is of Go, its folder or with /... a folder above it.
func covering(allowed []string, name string) (string, bool) {
	for _, entry := range allowed {
		if entry == name {
			return entry, true
		}
		folder, below := strings.CutSuffix(entry, "/...")
		inside := path.Dir(name) == folder || below && strings.HasPrefix(name, folder+"/")
		if inside && strings.HasSuffix(name, ".go") {
			return entry, true
		}
	}
	return "", false
}

func avoidedWords(t *testing.T) (words []avoided) {
	t.Helper()
	for _, line := range listed(t, "words.txt") {
		pattern, instead, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("words.txt: no tab in %q", line)
		}
		words = append(words, avoided{regexp.MustCompile(pattern), instead})
	}
	return words
}

// listed are the lines of a file in testdata, without comments.
func listed(t *testing.T, name string) (lines []string) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	must(t, err)
	defer file.Close()
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if line := scanner.Text(); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// proseFiles are the Markdown files and the Go files that are no tests, from the root of the repository.
func proseFiles(t *testing.T) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "testdata" || name == "node_modules" || name == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		isProse := strings.HasSuffix(file, ".md") ||
			strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
		if isProse && entry.Type().IsRegular() {
			name, err := filepath.Rel(root, file)
			must(t, err)
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	}))
	return names
}

func passages(t *testing.T, name string) []passage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	must(t, err)
	if strings.HasSuffix(name, ".md") {
		return append(paragraphs(string(text)), tableRows(string(text))...)
	}
	return comments(t, name, text)
}

// comments are the comments and strings of a Go file.
func comments(t *testing.T, name string, text []byte) (all []passage) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	must(t, err)
	for _, group := range file.Comments {
		words := strings.Join(strings.Fields(group.Text()), " ")
		all = append(all, passage{files.Position(group.Pos()).Line, words})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			all = append(all, passage{files.Position(literal.Pos()).Line, literal.Value})
		}
		return true
	})
	return all
}
