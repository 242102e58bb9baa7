package release

import (
	"strings"
	"testing"
)

var checkIt = []string{"check"}

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
	newShop(t).passes("No module has a tag", "example.com/shop/pay: no tag yet")
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
	s.passes("example.com/shop since v0.1.0:\nCompatible changes:\n- Close: added\nexample.com/shop/pay since v0.1.0:\n")
}

// TestCheckIncompatible: a break needs an entry in CHANGELOG.md for a version that may have it: before v1 the next minor one, then the
// next major one. Both modules are broken, though only the first was changed.
func TestCheckIncompatible(t *testing.T) {
	s := newShop(t)
	s.replace("CHANGELOG.md", "0.1.0", "0.9.0")
	s.releases("v0.9.0")
	s.replace("shop.go", "Open(name string)", "Open(name string, size int)")
	s.commit("A size")
	s.refused(checkIt, "example.com/shop breaks users of v0.9.0, which v0.9.0 may not", "example.com/shop/pay breaks",
		"next minor version")
	s.begins("0.9.1", "Open takes a size.")
	s.refused(checkIt, "example.com/shop breaks users of v0.9.0, which v0.9.1 may not", "next minor version")
	s.replace("CHANGELOG.md", "0.9.1", "0.8.0")
	s.refused(checkIt, "which v0.8.0 may not")
	s.replace("CHANGELOG.md", "0.8.0", "0.10.0")
	s.passes("Open: changed from func(string) error to func(string, int) error")
	s.replace("CHANGELOG.md", "Open takes a size.", "")
	s.refused(checkIt, "the entry v0.10.0 of CHANGELOG.md is empty")
	s.replace("CHANGELOG.md", "0.10.0", "1.0.0")
	s.releases("v1.0.0")
	s.replace("shop.go", "size int", "size int64")
	s.commit("Another size")
	s.begins("1.1.0", "Open takes another size.")
	s.refused(checkIt, "example.com/shop breaks users of v1.0.0, which v1.1.0 may not", "next major version")
	s.replace("CHANGELOG.md", "1.1.0", "2.0.0")
	s.passes("func(string, int64) error")
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
