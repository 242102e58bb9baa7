package redsynclock_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestReadmeShowsTheDiff of the two examples: what only one of them has, and nothing else, but for imports.
func TestReadmeShowsTheDiff(t *testing.T) {
	main := func(path string) []string {
		text, err := os.ReadFile(path)
		must(t, err)
		_, body, _ := strings.Cut(string(text), "func main() {\n")
		return strings.Split(body, "\n")
	}
	before, after := main("../../examples/redsync/before/main.go"), main("../../examples/redsync/after/main.go")
	var want []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			want = append(want, "-"+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			want = append(want, "+"+line)
		}
	}
	text, err := os.ReadFile("README.md")
	must(t, err)
	_, diff, _ := strings.Cut(string(text), "```diff\n")
	diff, _, _ = strings.Cut(diff, "```")
	var got []string
	for line := range strings.Lines(diff) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") && !slices.Contains(before, line[1:]) {
			got = append(got, line)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) < 5 {
		t.Errorf("README shows\n%s\nthe examples differ in\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
