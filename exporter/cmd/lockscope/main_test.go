package main

import (
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
)

func TestMain(m *testing.M) { cmdtest.MainOrLockscope(m, run) }

// command runs the program in this process.
func command(t *testing.T, args ...string) cmdtest.Outcome {
	t.Helper()
	return commandWith(t, nil, "", args...)
}

func commandWith(t *testing.T, environ []string, stdin string, args ...string) cmdtest.Outcome {
	t.Helper()
	return cmdtest.Program(run).With(t, environ, stdin, args...)
}
