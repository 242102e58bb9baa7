package cmdtest

import (
	"os"
	"path/filepath"
	"testing"
)

// ConfigFile writes a file beside others in a folder of its own.
func ConfigFile(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lockscope.yaml")
	Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Patient judges no latency: tests share the machine with others.
func Patient(args ...string) []string {
	return append([]string{"doctor", "--for", "100ms", "--node-timeout", "10s", "--ttl", "1h"}, args...)
}

// Quick confirms at once: nobody takes locks in two steps here.
func Quick(args ...string) []string {
	return append([]string{"scan", "--confirm-after", "10ms"}, args...)
}
