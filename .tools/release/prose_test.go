package release

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

const (
	maxSentence  = 25  // words of a sentence in README.md
	maxChangelog = 500 // words of version 0.1.0 in CHANGELOG.md
)

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	must(t, err)
	return string(text)
}

// TestSentencesOfReadme: they are short, but for the promise, which is quoted word for word.
func TestSentencesOfReadme(t *testing.T) {
	sentences := 0
	for _, p := range paragraphs(readText(t, "README.md")) {
		if strings.HasPrefix(p.text, ">") {
			continue
		}
		for _, s := range regexp.MustCompile(`[.?!] +`).Split(plain(p.text), -1) {
			sentences++
			if n := countWords(s); n > maxSentence {
				t.Errorf("README.md:%d: %d words, at most %d: %s", p.line, n, maxSentence, s)
			}
		}
	}
	if sentences < 30 {
		t.Errorf("%d sentences: the check looks at nothing", sentences)
	}
}

// TestLengthOfChangelog: it says what a user gets, and leaves what changed between commits to git.
func TestLengthOfChangelog(t *testing.T) {
	_, version, found := strings.Cut(readText(t, "CHANGELOG.md"), "\n## 0.1.0")
	if !found {
		t.Fatal("CHANGELOG.md has no version 0.1.0")
	}
	version, _, _ = strings.Cut(version, "\n## ")
	if n := countWords(version); n >= maxChangelog || n < 100 {
		t.Errorf("version 0.1.0 has %d words, want fewer than %d", n, maxChangelog)
	}
}

var (
	linkInText = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
)

// TestLinks: a relative link of a Markdown file leads to a file or folder, and an anchor to a heading.
func TestLinks(t *testing.T) {
	links := 0
	for _, name := range proseFiles(t) {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		for _, p := range append(paragraphs(readText(t, name)), tableRows(readText(t, name))...) {
			for _, link := range linkInText.FindAllStringSubmatch(codeSpan.ReplaceAllString(p.text, "code"), -1) {
				if strings.Contains(link[1], ":") {
					continue
				}
				links++
				checkLink(t, name, p.line, link[1])
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links: the check looks at nothing", links)
	}
}

func checkLink(t *testing.T, name string, line int, link string) {
	t.Helper()
	file, anchor, hasAnchor := strings.Cut(link, "#")
	target := name
	if file != "" {
		target = path.Join(path.Dir(name), file)
	}
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
		t.Errorf("%s:%d: there is no %s", name, line, target)
		return
	}
	if hasAnchor && strings.HasSuffix(target, ".md") && !anchors(readText(t, target))[anchor] {
		t.Errorf("%s:%d: %s has no heading #%s", name, line, target, anchor)
	}
}

// anchors are those that GitHub gives the headings of a page.
func anchors(text string) map[string]bool {
	found := make(map[string]bool)
	for _, heading := range regexp.MustCompile(`(?m)^#+ +(.+)$`).FindAllStringSubmatch(withoutCode(text), -1) {
		title := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading[1], "$1")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		found[anchor] = true
	}
	return found
}

// withoutCode empties the lines of fenced code and of comments, so that all others keep their numbers.
func withoutCode(text string) string {
	var kept strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence || fenced || strings.HasPrefix(line, "<!--") {
			line = "\n"
		}
		fenced = fenced != fence
		kept.WriteString(line)
	}
	return kept.String()
}

// paragraphs are the paragraphs, headings and items of lists of a page, each in one line.
func paragraphs(text string) (all []passage) {
	open := false
	number := 0
	item := regexp.MustCompile(`^\s*(?:[-*]|\d+\.) `)
	for line := range strings.Lines(withoutCode(text)) {
		number++
		words := strings.Join(strings.Fields(line), " ")
		heading := strings.HasPrefix(line, "#")
		switch {
		case words == "" || strings.HasPrefix(words, "|") || strings.HasPrefix(line, "    ") && !open:
			open = false
		case open && !heading && !item.MatchString(line):
			all[len(all)-1].text += " " + words
		default:
			all = append(all, passage{number, words})
			open = !heading
		}
	}
	return all
}

func tableRows(text string) (all []passage) {
	number := 0
	for line := range strings.Lines(withoutCode(text)) {
		if number++; strings.HasPrefix(line, "|") {
			all = append(all, passage{number, strings.TrimSpace(line)})
		}
	}
	return all
}

// plain is a text without the addresses of its links, and with each piece of code as one word.
func plain(text string) string {
	return linkInText.ReplaceAllString(codeSpan.ReplaceAllString(text, "code"), "]")
}

func countWords(text string) (n int) {
	for _, word := range strings.Fields(text) {
		if strings.IndexFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			n++
		}
	}
	return n
}
