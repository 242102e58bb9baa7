package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestArchives: the order in which files were found, and the time zone, change nothing.
func TestArchives(t *testing.T) {
	when := time.Unix(1_700_000_000, 0)
	here, there := when.UTC(), when.In(time.FixedZone("there", 7*60*60))
	files := []file{{"lockscope", []byte("\x7fELF"), 0o755}, {"man/lockscope.1", []byte(".TH"), 0o644}}
	turned := []file{files[1], files[0]}
	for name, pack := range map[string]func(io.Writer, []file, time.Time) error{"tar.gz": tarGz, "zip": zipFile} {
		var first, second bytes.Buffer
		must(t, pack(&first, files, here))
		must(t, pack(&second, turned, there.UTC()))
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s differs", name)
		}
	}
	var packed bytes.Buffer
	must(t, tarGz(&packed, turned, here))
	cmd := exec.CommandContext(t.Context(), "tar", "-tvz")
	cmd.Stdin, cmd.Env = &packed, []string{"TZ=UTC", "PATH=/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "-rwxr-xr-x 0/0 ") ||
		!strings.Contains(string(out), "2023-11-14 22:13") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestZipped: a manual page has neither a name nor a time in its header.
func TestZipped(t *testing.T) {
	text, err := zipped([]byte(".TH"))
	must(t, err)
	in, err := gzip.NewReader(bytes.NewReader(text))
	must(t, err)
	if got, err := io.ReadAll(in); string(got) != ".TH" || err != nil || in.Name != "" || !in.ModTime.IsZero() {
		t.Errorf("%q, %+v, %v", got, in.Header, err)
	}
}
