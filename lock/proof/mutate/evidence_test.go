package main

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestEvidenceCountsTheBugs: the page has a row for each area, with the numbers of its folder, and their sum.
func TestEvidenceCountsTheBugs(t *testing.T) {
	bugs, killed := map[string]int{}, map[string]int{}
	all, allKilled := planted(t), 0
	for _, b := range all {
		area := path.Dir(b.name)
		bugs[area]++
		if b.equivalent == "" {
			killed[area]++
			allKilled++
		}
	}
	want := map[string]string{}
	for area := range bugs {
		want[area] = fmt.Sprintf("[%s](mutate/bugs/%s) %d %d", area, area, bugs[area], killed[area])
	}
	page := readFile(t, "lock/proof/EVIDENCE.md")
	row := regexp.MustCompile(`(?m)^\| (\[([\w-]+)\]\(mutate/bugs/[^)]+\)) \| .+ \| (\d+) \| (\d+) \|$`)
	got := map[string]string{}
	for _, r := range row.FindAllStringSubmatch(page, -1) {
		got[r[2]] = strings.Join([]string{r[1], r[3], r[4]}, " ")
	}
	if !maps.Equal(got, want) {
		t.Errorf("EVIDENCE.md says\n%v\nand the folders have\n%v", got, want)
	}
	if sum := fmt.Sprintf("%d bugs: %d killed by their tests,", len(all), allKilled); !strings.Contains(page, sum) {
		t.Errorf("EVIDENCE.md does not say %q", sum)
	}
}
