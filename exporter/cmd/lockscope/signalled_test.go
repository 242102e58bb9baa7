package main

import (
	"bytes"
	"context"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/child"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestSignalledBeforeItListens: a signal that comes while lockscope starts counts. Nobody holds the lock, and no command
// runs.
func TestSignalledBeforeItListens(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, servers...)
	on := []string{"--redis", cmdtest.Addrs(servers...), "--node-timeout", "2s"}
	command := []string{"--", "echo", "ran"}
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		args   []string
		status int
		says   string
	}{
		{"hold", syscall.SIGINT, []string{"--reason", "why", "--operator", "ann", "--audit-log", filepath.Join(t.TempDir(), "log")},
			130, "stopped by SIGINT"},
		{"run", syscall.SIGTERM, command, 143, "stopped by SIGTERM"},
		{"elect", syscall.SIGTERM, command, 0, "ended"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(&child.SignalError{Signal: c.signal})
		var out, errOut bytes.Buffer
		status := run(ctx, append(append([]string{c.name, "nightly"}, on...), c.args...), nil, nil, &out, &errOut)
		cmdtest.Outcome{Status: status, Err: errOut.String()}.Want(t, c.status, c.says)
		if out.Len() > 0 {
			t.Errorf("%s: %s", c.name, &out)
		}
	}
}
