package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
)

// git runs git in the repository and returns what it prints.
func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	var errOut bytes.Buffer
	cmd.Dir, cmd.Stderr = root, &errOut
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, errOut.Bytes())
	}
	return string(out), nil
}
