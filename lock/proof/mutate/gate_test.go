package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tinyModule is a program with tests that bugs are planted in.
var tinyModule = map[string]string{
	"go.mod":   "module tiny\n\ngo 1.26\n",
	"word.txt": "word\n",
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
	if Word != "word\n" {
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
		writeFile(t, filepath.Join(dir, name), text)
	}
	tiny, err := newTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tiny.close()
	by := func(run string) killer { return killer{pkg: ".", run: run} }
	sum, sumOfTwo := by("TestSum"), by("TestSum/of_two")
	endless := sum
	endless.hangs = true
	planted := func(file, hunk string, k killer) bug {
		patch := filepath.Join(t.TempDir(), "bug.patch")
		writeFile(t, patch, "--- a/"+file+"\n+++ b/"+file+"\n"+hunk)
		return bug{file: file, patch: patch, killer: k}
	}
	plus := func(with string, k killer) bug {
		return planted("tiny.go", "@@ -7,3 +7,3 @@\n \n-func Sum(a, b int) int { return a + b }\n"+
			"+func Sum(a, b int) int { return "+with+" }\n \n", k)
	}
	hangs := func(k killer) bug {
		return planted("tiny.go", "@@ -9,2 +9,2 @@\n \n-func Idle() {}\n+func Idle() { select {} }\n", k)
	}
	equivalent := plus("b + a", sum)
	equivalent.equivalent = "addition commutes"
	notEquivalent := plus("a - b", sum)
	notEquivalent.equivalent = "it is said to be"
	cases := []struct {
		name string
		bug  bug
		want verdict
		says string // its error, or how it was killed
	}{
		{"killed", plus("a - b", sum), killed, "wrong"},
		{"killed by a subtest", plus("a * b", sumOfTwo), killed, "wrong"},
		{"killed in a file that is embedded",
			planted("word.txt", "@@ -1 +1 @@\n-word\n+lord\n", by("TestWord")), killed, "lord"},
		{"killed by a panic", plus(`a + []int{}[b]`, sum), killed, "panic"},
		{"survived", plus("b + a", sum), survived, ""},
		{"equivalent", equivalent, same, ""},
		{"not equivalent", notEquivalent, failed, "said to be equivalent"},
		{"not a program", plus(`a + "b"`, sum), failed, errNotBuilt.Error()},
		{"a patch that does not apply", planted("tiny.go", "@@ -1 +1 @@\n-word\n+lord\n", sum), failed,
			"make the change there by hand"},
		{"no such test", plus("a - b", by("TestNothing")), failed, "no test TestNothing to run"},
		{"no such subtest", plus("a - b", by("TestSum/of_three")), failed, "no test TestSum/of_three to run"},
		{"a test that always fails", plus("a - b", by("TestWrong")), failed, "without a bug"},
		{"a test that does not end", hangs(sum), failed, "did not end"},
		{"a test that does not end, as it is to", hangs(endless), killed, "timed out"},
	}
	var all []bug
	for _, c := range cases {
		all = append(all, c.bug)
	}
	g := gate{tree: tiny, jobs: 2, limit: 8 * time.Second, progress: io.Discard}
	results := g.run(t.Context(), all)
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
	if err := s.err(); err == nil || !strings.Contains(err.Error(), "1 bugs survived, 7 could not be tried") {
		t.Errorf("the gate says %v", err)
	}
	var out strings.Builder
	s.text(&out)
	if !strings.Contains(out.String(), "TestSum/of_two") || !strings.Contains(out.String(), "SURVIVED (TestSum)") {
		t.Errorf("the table:\n%s", out.String())
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
		if v, _, err := judge(bug{}, testRun{begun: true, output: "    a_test.go:1: " + reply +
			"\n"}); v != failed || err == nil {
			t.Errorf("%s: %s", reply, v)
		}
	}
}
