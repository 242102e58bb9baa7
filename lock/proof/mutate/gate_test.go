package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockscope/lockscope/lock/proof/mutate/bugs"
)

// tinyModule is a program with tests that bugs are planted in.
var tinyModule = map[string]string{
	"go.mod":   "module tiny\n\ngo 1.26\n",
	"word.txt": "word",
	"tiny.go": `package tiny

import _ "embed"

//go:embed word.txt
var Word string

func Sum(a, b int) int { return a + b }

func Idle() {}
`,
	"tiny_test.go": `package tiny

import "testing"

func TestSum(t *testing.T) {
	t.Run("of two", func(t *testing.T) {
		Idle()
		if Sum(2, 3) != 5 {
			t.Error("wrong")
		}
	})
}

func TestWord(t *testing.T) {
	if Word != "word" {
		t.Errorf("%q", Word)
	}
}

func TestWrong(t *testing.T) { t.Fatal("always") }
`,
}

// TestGateTellsVerdictsApart on bugs of which each is one of those there are.
func TestGateTellsVerdictsApart(t *testing.T) {
	dir := t.TempDir()
	for name, text := range tinyModule {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tiny, err := newTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tiny.close()
	by := func(run string) bugs.Killer { return bugs.Killer{Package: ".", Run: run} }
	sum, sumOfTwo := by("TestSum"), by("TestSum/of_two")
	endless := sum
	endless.Hangs = true
	plus := func(with string, k bugs.Killer) bugs.Mutant {
		return bugs.Mutant{File: "tiny.go", Old: "a + b", New: with, Killer: k}
	}
	hang := bugs.Mutant{File: "tiny.go", Old: "func Idle() {}", New: "func Idle() { select {} }"}
	hangs := func(k bugs.Killer) bugs.Mutant {
		hang.Killer = k
		return hang
	}
	equivalent := plus("b + a", sum)
	equivalent.Equivalent = "addition commutes"
	notEquivalent := plus("a - b", sum)
	notEquivalent.Equivalent = "it is said to be"
	twice := plus("a - b", sum)
	twice.Times = 2
	cases := []struct {
		name   string
		mutant bugs.Mutant
		want   verdict
		says   string // its error, or how it was killed
	}{
		{"killed", plus("a - b", sum), killed, "wrong"},
		{"killed by a subtest", plus("a * b", sumOfTwo), killed, "wrong"},
		{"killed in a file that is embedded",
			bugs.Mutant{File: "word.txt", Old: "word", New: "lord", Killer: by("TestWord")}, killed, `"lord"`},
		{"killed by a panic", plus(`a + []int{}[b]`, sum), killed, "panic"},
		{"survived", plus("b + a", sum), survived, ""},
		{"equivalent", equivalent, same, ""},
		{"not equivalent", notEquivalent, failed, "said to be equivalent"},
		{"not a program", plus(`a + "b"`, sum), failed, errNotBuilt.Error()},
		{"text not found", bugs.Mutant{File: "tiny.go", Old: "a + c", New: "c", Killer: sum}, failed,
			"0 times instead of 1"},
		{"text found less often", twice, failed, "1 times instead of 2"},
		{"nothing changed", plus("a + b", sum), failed, "nothing to replace"},
		{"no such test", plus("a - b", by("TestNothing")), failed, "no test TestNothing to run"},
		{"no such subtest", plus("a - b", by("TestSum/of_three")), failed, "no test TestSum/of_three to run"},
		{"a test that always fails", plus("a - b", by("TestWrong")), failed, "without a bug"},
		{"a test that does not end", hangs(sum), failed, "did not end"},
		{"a test that does not end, as it is to", hangs(endless), killed, "timed out"},
	}
	var mutants []bugs.Mutant
	for _, c := range cases {
		mutants = append(mutants, c.mutant)
	}
	g := gate{tree: tiny, jobs: 2, limit: 8 * time.Second, progress: io.Discard}
	results := g.run(t.Context(), mutants)
	for i, c := range cases {
		r := results[i]
		said := r.how
		if r.err != nil {
			said = r.err.Error()
		}
		if r.verdict != c.want || !strings.Contains(said, c.says) {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, r.verdict, said, c.want, c.says)
		}
	}
	after, err := os.ReadFile(filepath.Join(dir, "tiny.go"))
	if err != nil || string(after) != tinyModule["tiny.go"] {
		t.Errorf("the tree was changed: %v", err)
	}
	s := summary{results: results}
	if err := s.err(); err == nil || !strings.Contains(err.Error(), "1 bugs survived, 9 could not be tried") {
		t.Errorf("the gate says %v", err)
	}
	var text, markdown bytes.Buffer
	s.text(&text)
	s.markdown(&markdown)
	for _, out := range []string{text.String(), markdown.String()} {
		if !strings.Contains(out, "TestSum/of_two") || !strings.Contains(out, "SURVIVED (TestSum)") {
			t.Errorf("the table:\n%s", out)
		}
	}
}

// TestScriptThatIsNoneShowsNothing: a test that fails for that would fail of any bug.
func TestScriptThatIsNoneShowsNothing(t *testing.T) {
	for _, reply := range []string{
		"ERR Error compiling script (new function): user_script:3: '=' expected near 'here'",
		"ERR user_script:12: Script attempted to access nonexistent global variable 'x' script: 7e, on " +
			"@user_script:12.",
		`ERROR: syntax error at or near "THEN" (SQLSTATE 42601)`,
	} {
		if v, _, err := judge(bugs.Mutant{}, testRun{begun: true, output: "    a_test.go:1: " + reply +
			"\n"}); v != failed || err == nil {
			t.Errorf("%s: %s", reply, v)
		}
	}
}
