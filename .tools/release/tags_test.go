package release

import (
	"strings"
	"testing"
)

var tagIt = []string{"tag", "v0.1.0"}

// TestTags: one command tags HEAD for every module.
func TestTags(t *testing.T) {
	s := newShop(t)
	s.replace("CHANGELOG.md", "(not tagged yet)", "(2026-12-01)")
	s.commit("Release v0.1.0")
	out := s.run(tagIt...)
	if want := "git push --atomic origin v0.1.0 pay/v0.1.0\n"; !strings.HasSuffix(out, want) {
		t.Errorf("%q is not at the end of\n%s", want, out)
	}
	s.hasTags("pay/v0.1.0", "v0.1.0")
	if head := s.git("rev-parse", "HEAD"); s.git("rev-parse", "pay/v0.1.0") != head {
		t.Error("the tag is not on HEAD")
	}
	s.refused(tagIt, "the tag v0.1.0 exists", "the tag pay/v0.1.0 exists")
}

// TestTagsAllOrNone: with one tag in the way, or a file that git does not have, no tag is made.
func TestTagsAllOrNone(t *testing.T) {
	s := newShop(t)
	s.refused(tagIt, `is not "## 0.1.0 (YYYY-MM-DD)"`)
	s.replace("CHANGELOG.md", "(not tagged yet)", "(2026-12-01)")
	s.refused(tagIt, "differs from HEAD", "CHANGELOG.md")
	s.commit("Release v0.1.0")
	s.write(map[string]string{"new.go": "package shop\n"})
	s.refused(tagIt, "differs from HEAD", "new.go")
	s.commit("A file")
	s.refused([]string{"tag", "v0.2.0"}, "requires example.com/shop@v0.1.0", "version v0.2.0")
	s.refused([]string{"tag", "0.1.0"}, "like v0.2.0")
	s.git("tag", "pay/v0.1.0")
	s.refused(tagIt, "the tag pay/v0.1.0 exists")
	s.hasTags("pay/v0.1.0")

	// Another process makes a tag after the look: git refuses all of them.
	s.git("tag", "--delete", "pay/v0.1.0")
	s.write(map[string]string{".git/refs/tags/pay/v0.1.0.lock": ""})
	s.refused(tagIt, "no tag was made")
	s.hasTags()
}
