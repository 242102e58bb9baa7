//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrintedCommandsWork runs the three commands as a user does, in a shell, while the demo runs.
func TestPrintedCommandsWork(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	head, wait := startDemoHead(t, ctx, "-for", "5m", "-node-timeout", "500ms")
	defer func() {
		stop()
		wait()
	}()
	commands := commandsIn(head)
	if len(commands) != 3 {
		t.Fatalf("%d commands in\n%s", len(commands), head)
	}
	profile, top, timeline := commands[0], commands[1], commands[2]
	if out := inShell(t, ".", profile); !strings.Contains(out, "workload/jobs.go:") {
		t.Errorf("%s: no call site in\n%s", profile, out)
	}
	out := inShell(t, "../..", top)
	if !strings.Contains(out, "5 of 5 nodes vote") || !strings.Contains(out, "1 of 1 page") {
		t.Errorf("%s:\n%s", top, out)
	}
	dir := t.TempDir()
	inShell(t, dir, timeline)
	trace, err := os.ReadFile(filepath.Join(dir, "trace.json"))
	if err != nil || !strings.Contains(string(trace), "workload/jobs.go:") {
		t.Errorf("%s: no call site in a timeline of %d bytes, %v", timeline, len(trace), err)
	}
}

// commandsIn are the indented lines.
func commandsIn(head string) (commands []string) {
	for line := range strings.Lines(head) {
		if command, indented := strings.CutPrefix(line, "  "); indented {
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	return commands
}

func inShell(t *testing.T, dir, command string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}
