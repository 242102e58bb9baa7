//go:build unix

package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestElectKilled: if a leader is killed, its command is, and another machine leads when the term has run out.
func TestElectKilled(t *testing.T) {
	t.Parallel()
	servers := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, servers...)
	first, second := newLife(t), newLife(t)
	lead := func(l *life, more ...string) *cmdtest.Started {
		return cmdtest.Start(t, slices.Concat([]string{"elect", "scheduler", "--redis", cmdtest.Addrs(servers...), "--ttl", "3s",
			"--node-timeout", "700ms"}, more, []string{"--", "sh", "-c",
			"exec 9>" + l.Path + "; trap '' TERM; echo running >&9; while :; do sleep 0.1; done"})...)
	}
	r1 := lead(first)
	first.Await("running")
	r2 := lead(second, "--kill-after", "200ms")
	cmdtest.Eventually(t, "the second stands by", func() bool { return strings.Contains(r2.Log(), "standby") })
	cmdtest.Must(t, r1.Kill())
	first.AwaitEnd()
	second.Await("running")
	cmdtest.Must(t, r2.Signal(syscall.SIGTERM))
	r2.Wait().Want(t, ui.ExitClean, "killed the command")
	second.AwaitEnd()
}
