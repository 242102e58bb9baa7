package compose_test

import (
	"debug/elf"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var stage = regexp.MustCompile(`(?m)^FROM \S+ AS (\S+)$`)

// targets are the stages of the Dockerfile.
func targets(t *testing.T) (names []string) {
	t.Helper()
	for _, m := range stage.FindAllStringSubmatch(read(t, "Dockerfile"), -1) {
		names = append(names, m[1])
	}
	return names
}

// TestImages checks what the empty images rely on: what the Dockerfile compiles loads
// nothing at run time, and lies where the stages fetch it.
func TestImages(t *testing.T) {
	text := read(t, "Dockerfile")
	if want := []string{"build", "nobody", "service", "load", "lockscope"}; !slices.Equal(targets(t), want) {
		t.Fatalf("stages %q", targets(t))
	}
	for _, name := range targets(t)[2:] {
		want := "FROM nobody AS " + name + "\nCOPY --from=build /out/" + name + " /" + name + "\nENTRYPOINT [\"/" +
			name + "\"]\n"
		if !strings.Contains(text, want) {
			t.Errorf("the stage %s is not\n%s", name, want)
		}
		if runtime.GOOS == "linux" {
			checkStatic(t, programs+name)
		}
	}
	_, base, _ := strings.Cut(text, "FROM scratch AS nobody\n")
	if !strings.Contains(base, "ca-certificates.crt") || !strings.Contains(base, "USER 65532:65532\n") {
		t.Errorf("the base of the images is\n%s", base)
	}
	if o := run(t, programs+"lockscope", "version"); o.out != "lockscope v9.9.9\n" {
		t.Errorf("version: %+v", o)
	}
}

func checkStatic(t *testing.T, bin string) {
	t.Helper()
	f, err := elf.Open(bin)
	must(t, err)
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s wants an interpreter: it is not static", bin)
		}
	}
	if libs, err := f.ImportedLibraries(); err == nil && len(libs) > 0 {
		t.Errorf("%s wants %v", bin, libs)
	}
}

// TestCompiler: the compiler of the image is the one that go.mod asks for.
func TestCompiler(t *testing.T) {
	minor := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, root+"/go.mod"))
	if minor == nil || !strings.Contains(read(t, "Dockerfile"), "FROM golang:"+minor[1]+" AS build\n") {
		t.Errorf("go.mod wants Go %q", minor)
	}
}

// TestContext: what the build needs is not kept from it.
func TestContext(t *testing.T) {
	for line := range strings.Lines(read(t, "Dockerfile.dockerignore")) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "#") && !slices.Contains([]string{".git", "bin", "**/node_modules"}, line) {
			t.Errorf("%q is kept from the build: is nothing of it compiled or embedded?", line)
		}
	}
}
