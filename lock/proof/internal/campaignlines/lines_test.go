package campaignlines

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files and reads them as the code of a campaign.
func tree(t *testing.T, files map[string]string) *Record {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Read(dir, "a campaign")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChangedLinesAreCounted(t *testing.T) {
	const leave = "redlock/internal/scripts/leave.lua"
	const lease, script = "package lock\n\n// why\nfunc a() {\n\tb()\n\tb()\n}\n", "-- why\nreturn 1\n"
	then := tree(t, map[string]string{"lease.go": lease, leave: script})
	for name, c := range map[string]struct {
		files   map[string]string
		changed int
	}{
		"nothing":          {map[string]string{"lease.go": lease, leave: script}, 0},
		"comments, blanks": {map[string]string{"lease.go": "// else\n\n\n" + lease, leave: "return 1"}, 0},
		"one line": {map[string]string{"lease.go": strings.Replace(lease, "b()", "c()", 1), leave: script},
			1},
		"one of two alike": {map[string]string{"lease.go": strings.Replace(lease, "\tb()\n", "", 1), leave: script},
			1},
		"a script":    {map[string]string{"lease.go": lease, leave: "return 0\n"}, 1},
		"a file less": {map[string]string{"lease.go": lease}, 1},
		"a file more": {map[string]string{"lease.go": lease, leave: script,
			"redlock/guard/act.go": "package guard\nvar x int\n"}, 2},
		"a test, another": {map[string]string{"lease.go": lease, leave: script, "lease_test.go": lease,
			"pglock/a.go": lease}, 0},
		"another file's now": {map[string]string{"turn.go": lease, leave: script}, 0},
		"another folder's":   {map[string]string{"engine/lease.go": lease, leave: script}, 0},
		"moved and changed": {map[string]string{"engine/lease.go": strings.Replace(lease, "b()", "c()", 1),
			leave: script}, 1},
		"a line moved": {map[string]string{
			"lease.go": strings.Replace(lease, "\tb()\n", "", 1), "engine/turn.go": "b()\n", leave: script,
		}, 0},
		"moved, and one more": {map[string]string{
			"lease.go": strings.Replace(lease, "\tb()\n", "", 1), "engine/turn.go": "b()\nb()\n", leave: script,
		}, 1},
	} {
		now := tree(t, c.files)
		if got := then.Changed(now); got != c.changed {
			t.Errorf("%s: %d lines changed, want %d", name, got, c.changed)
		}
		if there, back := then.Changed(now), now.Changed(then); there != back {
			t.Errorf("%s: %d lines there, %d back", name, there, back)
		}
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	then := tree(t, map[string]string{"lease.go": "package lock\n\nvar a = 1\n",
		"redlock/internal/scripts/a.lua": "return 1\n", "doc.go": "// Package\n"})
	var text strings.Builder
	if err := then.Write(&text); err != nil {
		t.Fatal(err)
	}
	now, err := Parse(text.String())
	if err != nil || now.Of != "a campaign" || now.Lines() != 3 || then.Changed(now) != 0 {
		t.Errorf("%v: %+v\n%s", err, now, &text)
	}
	for _, bad := range []string{"", "a campaign", "a campaign\nlease.go\n", "a campaign\nlease.go abc\n"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is a record", bad)
		}
	}
	if _, err := Read(t.TempDir(), ""); err == nil {
		t.Error("an empty folder has code")
	}
}
