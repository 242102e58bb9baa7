// Package dockerfile runs what a Dockerfile compiles, so that tests of an image need
// no container engine.
package dockerfile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Version is what VERSION stands for in a build line.
const Version = "v9.9.9"

// Compile runs the go build of a Dockerfile in the directory root, which is the
// build's context. Of replacements every first text is replaced by the one after it:
// the output, which is a path of the image, by one of this machine.
func Compile(file, root string, replacements ...string) error {
	line, err := BuildLine(file)
	if err != nil {
		return err
	}
	line = strings.NewReplacer(append(replacements, "${VERSION}", Version)...).Replace(line)
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", line, err, out)
	}
	return nil
}

// BuildLine returns the RUN of a Dockerfile that compiles.
func BuildLine(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if command, ok := strings.CutPrefix(line, "RUN "); ok && strings.Contains(command, "go build") {
			return strings.TrimSpace(command), nil
		}
	}
	return "", errors.New(file + " compiles nothing")
}
