package proof_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/lock/proof/internal/campaignlines"
)

// maxChangedPercent is how far the code may be from the code of the campaign in EVIDENCE.md, in lines.
const maxChangedPercent = 15

// TestTheCampaignIsOfThisCode: the page says what was seen of the engine and its driver. Where too many of their
// lines have changed since, that is no evidence for them.
func TestTheCampaignIsOfThisCode(t *testing.T) {
	text, err := os.ReadFile("campaign.lines")
	if err != nil {
		t.Fatal(err)
	}
	then, err := campaignlines.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	now, err := campaignlines.Read("..", "this tree")
	if err != nil {
		t.Fatal(err)
	}
	changed, lines := then.Changed(now), then.Lines()
	t.Logf("%d of %d lines changed since the campaign of %s", changed, lines, then.Of)
	if lines < 5000 {
		t.Errorf("the record has %d lines: it is not of the engine and its driver", lines)
	}
	if 100*changed > maxChangedPercent*lines {
		t.Errorf(
			"%d of %d lines (above %d %%) changed since the campaign of %s: run `make prove FOR=30m SEED=11 "+
				"RECORD=1`, "+
				"and put its report into EVIDENCE.md", changed, lines, maxChangedPercent, then.Of)
	}
	page, err := os.ReadFile("EVIDENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	// The campaign is "when, lockscope commit, seed n, length".
	when, commit, _ := strings.Cut(then.Of, ", ")
	commit, _, _ = strings.Cut(commit, ",")
	for _, said := range []string{"| when | " + when, commit + " |"} {
		if !strings.Contains(string(page), said) {
			t.Errorf("EVIDENCE.md is of another campaign than campaign.lines: it does not say %q", said)
		}
	}
}

// TestEvidenceNamesTestsThatExist: whoever doubts a sentence of these pages runs the test that it names.
func TestEvidenceNamesTestsThatExist(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	exists := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			exists[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test\\w+)")
	for _, page := range []string{"EVIDENCE.md", "SCEPTICS.md", "spec/SPEC.md", "mutate/README.md",
		"campaign/README.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		tests := named.FindAllStringSubmatch(string(text), -1)
		if len(tests) == 0 {
			t.Errorf("%s names no test", page)
		}
		for _, test := range tests {
			if !exists[test[1]] {
				t.Errorf("%s names %s, which is nowhere", page, test[1])
			}
		}
	}
}
