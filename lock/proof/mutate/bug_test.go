package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const header = "bug: two\nwhy: it is not three\ntest: lock/engine TestThree/of_them\n"

// TestPatchFollowsItsPlace: a patch is planted where its lines are now, and nowhere else.
func TestPatchFollowsItsPlace(t *testing.T) {
	const before, after = "one\ntwo\nthree\nfour\nfive\n", "one\ntwo\n3\nfour\nfive\n"
	for _, test := range []struct{ name, file, want, fails string }{
		{"as it was", before, after, ""},
		{"moved", "zero\nzero\n" + before, "zero\nzero\n" + after, ""},
		{"changed beside it", "1\ntwo\nthree\nfour\n5\n", "1\ntwo\n3\nfour\n5\n", ""},
		{"changed beside it, and twice there", "1\ntwo\nthree\nfour\n5\ntwo\nthree\nfour\n6\n", "",
			"fits more than one place"},
		{"changed on both sides", "1\n2\nthree\n4\n5\n", "1\n2\n3\n4\n5\n", ""},
		{"changed on both sides, and twice there", "1\n2\nthree\n4\nthree\n", "", "fits more than one place"},
		{"gone", "one\ntwo\nfour\nfive\n", "", "make the change there by hand"},
	} {
		root := t.TempDir()
		writeFile(t, filepath.Join(root, "numbers"), test.file)
		writeFile(t, filepath.Join(root, "numbers.patch"),
			header+"\n--- a/numbers\n+++ b/numbers\n@@ -1,5 +1,5 @@\n one\n two\n-three\n+3\n four\n five\n")
		b, err := readBug(filepath.Join(root, "numbers.patch"))
		if err != nil {
			t.Fatal(err)
		}
		file, err := b.plant(root, t.TempDir())
		switch text, _ := os.ReadFile(file); {
		case test.fails != "":
			if err == nil || !strings.Contains(err.Error(), test.fails) ||
				!strings.Contains(err.Error(), "numbers.patch no longer fits numbers") {
				t.Errorf("%s: %v", test.name, err)
			}
		case err != nil || string(text) != test.want:
			t.Errorf("%s: %q, %v", test.name, text, err)
		}
	}
}

// TestHeaderOfAPatch: a header that lacks something is refused.
func TestHeaderOfAPatch(t *testing.T) {
	const diff = "\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
	file := filepath.Join(t.TempDir(), "a.patch")
	writeFile(t, file, header+"hangs: yes\nequivalent: as argued\n"+diff)
	want := bug{what: "two", why: "it is not three", patch: file, file: "f", replaces: true,
		killer: killer{pkg: "lock/engine", run: "TestThree/of_them", hangs: true}, equivalent: "as argued"}
	if got, err := readBug(file); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{
		"why: w\ntest: p T\n" + diff, "bug: b\ntest: p T\n" + diff, "bug: b\nwhy: w\ntest: p\n" + diff, header,
		header + "hang: yes\n" + diff,
	} {
		writeFile(t, file, text)
		if b, err := readBug(file); err == nil {
			t.Errorf("%q is read as %+v", text, b)
		}
	}
}
