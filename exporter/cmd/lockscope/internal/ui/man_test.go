package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		"--max-ttl": `\-\-max\-ttl`, `a\b`: `a\eb`, ".hidden": `\&.hidden`, "'quoted'": `\&'quoted'`, "plain": "plain",
	} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// tree is a program with one command and its man pages.
func tree() *cobra.Command {
	root := &cobra.Command{Use: "lockscope", Short: "Find locks", SilenceErrors: true, SilenceUsage: true}
	scan := Page{Exit: "0 clean", Topics: []string{"findings"}}.On(&cobra.Command{
		Use: "scan", Short: "Look once", Example: "  lockscope scan",
		RunE: func(*cobra.Command, []string) error { return nil },
	})
	scan.Flags().Int("page-size", 500, "keys per call")
	Group(scan.Flags(), Load, "page-size")
	root.AddCommand(scan, Manual("1.2.3"))
	InstallHelp(root)
	return root
}

// TestManual has a page for each command and topic, and the same bytes each time.
func TestManual(t *testing.T) {
	root := tree()
	var texts []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "man")
		root.SetArgs([]string{"man", "--dir", dir})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "lockscope-scan.1"))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
		for _, name := range []string{"lockscope.1", "lockscope-findings.7", "lockscope-json.7"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 2+len(topics()) {
			t.Errorf("%d pages: %v", len(entries), entries)
		}
	}
	for _, want := range []string{
		`.TH LOCKSCOPE\-SCAN 1 "" "lockscope 1.2.3"`, ".SS Load and limits", `.B \-\-page\-size int`,
		"keys per call (default 500).\nVariable: LOCKSCOPE_PAGE_SIZE.", ".SH EXIT STATUS\n0 clean\n",
		`.BR lockscope\-findings (7)`,
	} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("%q is not in\n%s", want, texts[0])
		}
	}
	if texts[0] != texts[1] {
		t.Error("the pages differ from run to run")
	}
	root = tree()
	root.SetArgs([]string{"man"})
	if err := root.Execute(); err == nil || !strings.Contains(err.Error(), "--dir is missing") {
		t.Errorf("%v", err)
	}
}
