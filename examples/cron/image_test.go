package cron_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/examples/internal/dockerfile"
)

// TestImage builds with the Dockerfile's own command and checks what the empty image
// relies on: nothing is loaded at run time, and anybody can run it.
func TestImage(t *testing.T) {
	if runtime.GOOS == "linux" {
		checkStatic(t, built)
	}
	o := run(t, nil, built, "version")
	if o.status != 0 || o.out != "lockscope v9.9.9\n" {
		t.Errorf("version: %+v", o)
	}
	runAsNobody(t, built)
}

func checkStatic(t *testing.T, bin string) {
	t.Helper()
	f, err := elf.Open(bin)
	must(t, err)
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("it wants an interpreter: it is not static")
		}
	}
	if libs, err := f.ImportedLibraries(); err == nil && len(libs) > 0 {
		t.Errorf("it wants %v", libs)
	}
}

// runAsNobody runs it as the image's user, where the test may become that.
func runAsNobody(t *testing.T, bin string) {
	t.Helper()
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		return
	}
	dir, err := os.MkdirTemp("", "lockscope-")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o755))
	copied := filepath.Join(dir, "lockscope")
	text, err := os.ReadFile(bin)
	must(t, err)
	must(t, os.WriteFile(copied, text, 0o755))
	cmd := exec.Command(copied, "--help")
	becomeNobody(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as user 65532: %v\n%s", err, out)
	}
}

func TestDockerfile(t *testing.T) {
	text := read(t, "Dockerfile")
	_, last, ok := strings.Cut(text, "FROM scratch\n")
	if !ok {
		t.Fatal("the image is not empty")
	}
	for _, want := range []string{"USER 65532:65532\n", "ENTRYPOINT [\"/lockscope\"]\n", "ca-certificates.crt",
		"COPY --from=build /lockscope /lockscope\n"} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is not in the last stage:\n%s", want, last)
		}
	}
	line, err := dockerfile.BuildLine("Dockerfile")
	if err != nil || !strings.Contains(line, "CGO_ENABLED=0 ") || !strings.HasSuffix(line, program) {
		t.Errorf("%q, %v", line, err)
	}
	// The compiler of the image is the one that go.mod asks for.
	for line := range strings.Lines(read(t, root+"/go.mod")) {
		if version, ok := strings.CutPrefix(line, "go "); ok {
			minor := strings.Join(strings.SplitN(strings.TrimSpace(version), ".", 3)[:2], ".")
			if !strings.Contains(text, "FROM golang:"+minor+" AS build\n") {
				t.Errorf("go.mod wants Go %s", minor)
			}
		}
	}
}
