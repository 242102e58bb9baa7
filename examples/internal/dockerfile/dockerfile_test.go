package dockerfile

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestImages: they are empty but for static programs and certificates, are nobody's, and are compiled as go.mod asks for.
func TestImages(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))
	for _, example := range []string{"cron", "compose"} {
		file := "../../" + example + "/Dockerfile"
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line, err := BuildLine(file)
		if err != nil || !strings.HasPrefix(line, "CGO_ENABLED=0 ") {
			t.Errorf("%s: %q, %v", example, line, err)
		}
		base, last, _ := strings.Cut(string(text), "FROM scratch")
		if !strings.Contains(base, "FROM golang:"+version[1]+" AS build\n") {
			t.Errorf("%s: go.mod wants Go %s", example, version[1])
		}
		for _, want := range []string{"USER 65532:65532\n", "ca-certificates.crt", "/lockscope /lockscope\n"} {
			if !strings.Contains(last, want) {
				t.Errorf("%s: no %q after the build:\n%s", example, want, last)
			}
		}
	}
}
