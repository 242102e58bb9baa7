package main

import (
	"strings"
	"testing"
)

var checkIt = []string{"-check"}

func (s *shop) passes(phrases ...string) {
	s.Helper()
	out := s.run(checkIt...)
	for _, phrase := range phrases {
		if !strings.Contains(out, phrase) {
			s.Errorf("%q is not in\n%s", phrase, out)
		}
	}
}

// TestCheckWithoutTags has nothing to compare with, and says so.
func TestCheckWithoutTags(t *testing.T) {
	newShop(t).passes("No module has a tag", "example.com/shop/pay: no tag yet", "2 go.mod files")
}

// TestCheckCompatible: what was added may go into any version, and what is internal is nobody's.
func TestCheckCompatible(t *testing.T) {
	s := newShop(t)
	s.releases("v0.1.0")
	s.passes("No module has a tag before this commit") // as the workflow of that tag does it
	s.replace("shop.go", "func Open", "func Close() {}\n\nfunc Open")
	s.replace("internal/till/till.go", "Count() int", "Count() string")
	s.replace("internal/till/till.go", "return 0", `return ""`)
	s.commit("Add Close")
	s.passes("example.com/shop: since v0.1.0, incompatible changes: 0, compatible: 1", "compatible: Close: added",
		"example.com/shop/pay: since v0.1.0, incompatible changes: 0, compatible: 0")
}

// TestCheckIncompatible: a break needs an entry in CHANGELOG.md for a version that may have it. Both modules are
// broken, though only the first was changed.
func TestCheckIncompatible(t *testing.T) {
	s := newShop(t)
	s.releases("v0.1.0")
	s.replace("shop.go", "Open(name string)", "Open(name string, size int)")
	s.commit("A size")
	s.refused(checkIt, "example.com/shop breaks users of v0.1.0", "example.com/shop/pay breaks",
		"no entry after that version", "next minor version")
	s.begins("0.1.1", "Open takes a size.")
	s.refused(checkIt, "example.com/shop breaks users of v0.1.0, which v0.1.1 may not", "next minor version")
	s.replace("CHANGELOG.md", "0.1.1", "0.2.0")
	s.passes("incompatible: Open: changed from func(string) error to func(string, int) error")
	s.replace("CHANGELOG.md", "Open takes a size.", "")
	s.refused(checkIt, "the entry v0.2.0 of CHANGELOG.md is empty")
}

// TestCheckRemoved: a package or a module that is no longer there breaks its users as well.
func TestCheckRemoved(t *testing.T) {
	s := newShop(t)
	s.write(map[string]string{"cart/cart.go": "package cart\n"})
	s.commit("A cart")
	s.releases("v0.1.0")
	s.git("rm", "-r", "--quiet", "cart", "pay/pay.go", "pay/go.mod")
	for _, work := range []string{"go.work", ".tools/release/release.work"} {
		s.replace(work, "/pay\n)\n\nreplace", "\n)\n\nreplace")
		s.replace(work, "\texample.com/shop/pay v0.1.0 => ", "\t// ")
	}
	s.replace(".tools/release/release.work", "\t../..\n\t../..\n", "\t../..\n")
	s.commit("No cart, no pay")
	s.refused(checkIt, "the module example.com/shop/pay of v0.1.0 is gone", "example.com/shop breaks users of v0.1.0")
}

func TestBreaks(t *testing.T) {
	for _, c := range []struct {
		last, next string
		may        bool
	}{
		{"v0.1.0", "v0.1.1", false}, {"v0.1.0", "v0.2.0", true}, {"v0.9.0", "v0.10.0", true},
		{"v0.2.0", "v0.1.9", false},
		{"v0.9.0", "v1.0.0", true}, {"v1.0.0", "v1.1.0", false}, {"v1.9.9", "v2.0.0", true},
		{"v1.0.0", "v0.9.0", false},
	} {
		if breaks(c.last, c.next) != c.may {
			t.Errorf("from %s to %s: want %v", c.last, c.next, c.may)
		}
	}
}

// TestCheckUnpublished: nobody can download a version without a tag, save the one that is about to get it.
func TestCheckUnpublished(t *testing.T) {
	s := newShop(t)
	s.replace("pay/go.mod", "shop v0.1.0", "shop v0.1.1")
	s.refused(checkIt, "pay/go.mod requires example.com/shop@v0.1.1",
		"which is neither tagged nor the version under way, v0.1.0")
	s.replace("pay/go.mod", "shop v0.1.1", "shop v0.1.0")
	mod := "module example.com/shop/tools\n\ngo 1.26.0\n\nrequire example.com/shop v0.7.0\n"
	s.write(map[string]string{".tools/go.mod": mod})
	s.refused(checkIt, ".tools/go.mod requires example.com/shop@v0.7.0")
	s.write(map[string]string{".tools/go.mod": mod + "\nreplace example.com/shop => ..\n"})
	s.passes("3 go.mod files")
	s.write(map[string]string{".tools/go.mod": strings.Replace(mod, "shop v0.7.0", "shop/gen v0.1.0", 1)})
	s.refused(checkIt, ".tools/go.mod requires example.com/shop/gen@v0.1.0, which is not released")
}
