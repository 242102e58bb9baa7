package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/election"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestScanLongTerm: --max-hold finds a lock and no leader; --max-term, and max_term in a file, find the leader.
func TestScanLongTerm(t *testing.T) {
	servers := locktest.Servers(t, 1)
	s := servers[0]
	p := cmdtest.LockingProcess(t, "billing-1", servers)
	_, err := election.Campaign(t.Context(), p, "billing", election.TTL(time.Minute))
	cmdtest.Must(t, err)
	_, err = p.Acquire(t.Context(), "report", lock.TTL(time.Minute))
	cmdtest.Must(t, err)
	time.Sleep(2 * time.Millisecond) // so long the limits below are
	server := []string{"--redis", s.Addr()}
	const leader = "election billing: one holder has had it for "

	o := command(t, cmdtest.Quick(append(server, "--max-hold", "1ms")...)...)
	o.Want(t, ui.ExitFindings, "held_too_long", "lock:report")
	o.WantNot(t, "lock:billing")
	o = command(t, cmdtest.Quick(append(server, "--max-term", "1ms")...)...)
	o.Want(t, ui.ExitFindings, "held_too_long", "lock:billing", leader)
	o.WantNot(t, "lock:report")
	command(t, cmdtest.Quick(append(server, "--max-term", "-1s")...)...).Want(t, ui.ExitError, "--max-term")

	file := filepath.Join(t.TempDir(), "lockscope.yaml")
	for text, want := range map[string]int{
		"max_term: 1ms": ui.ExitFindings,
		"patterns: [{prefix: 'lock:b', max_term: 1ms}]":  ui.ExitFindings,
		"patterns: [{prefix: 'lock:b', max_hold: 1ms}]":  ui.ExitClean,
		"patterns: [{prefix: 'lock:b', max_term: 1h}]":   ui.ExitClean,
		"patterns: [{prefix: 'lock:b', max_term: 10us}]": ui.ExitError,
	} {
		text = fmt.Sprintf("groups: [{name: one, redis: [%q]}]\n%s\n", s.Addr(), text)
		cmdtest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		o := command(t, cmdtest.Quick("--config", file, "--checks", "held_too_long")...)
		if o.Status != want {
			t.Errorf("status %d, want %d\n%s%s%s", o.Status, want, text, o.Out, o.Err)
		}
	}
}
