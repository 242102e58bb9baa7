package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
	"github.com/lockscope/lockscope/lock/redlock/guard"
)

// TestReconfigureTwoAtOnce: one wins, and the other reports that.
func TestReconfigureTwoAtOnce(t *testing.T) {
	servers := locktest.Servers(t, 5)
	three := cmdtest.Addrs(servers[:3]...)
	for round := range 5 {
		forget(t, servers...)
		command(t, "init", "--redis", three).Want(t, ui.ExitClean)
		sets := []string{cmdtest.Addrs(servers[:4]...), cmdtest.Addrs(servers[0], servers[1], servers[2], servers[4])}
		outcomes := make([]cmdtest.Outcome, len(sets))
		var both sync.WaitGroup
		for i, set := range sets {
			both.Go(func() { outcomes[i] = command(t, "reconfigure", "--from", three, "--redis", set) })
		}
		both.Wait()
		if (outcomes[0].Status == ui.ExitClean) == (outcomes[1].Status == ui.ExitClean) {
			t.Errorf("round %d: %+v and %+v", round, outcomes[0], outcomes[1])
		}
	}
}

// TestReconfigureCutOff: a process died after it had marked one of three nodes, which stays silent.
func TestReconfigureCutOff(t *testing.T) {
	servers := locktest.Servers(t, 4)
	three, four := cmdtest.Addrs(servers[:3]...), cmdtest.Addrs(servers...)
	to := guard.NewFingerprint(strings.Split(four, ","), lock.DefaultMaxTTL)
	for name, c := range map[string]struct{ from, to, votes string }{
		"finished": {three, four, "quarantine|4:60000:"},
		"undone":   {four, three, "quarantine|3:60000:"},
	} {
		t.Run(name, func(t *testing.T) {
			forget(t, servers...)
			command(t, "init", "--redis", three).Want(t, ui.ExitClean)
			fields := strings.Split(marked(t, servers[0])[0], "|")
			half := fmt.Sprintf("changing|%s|%s|0|change-died.1|60602|0|0|%s", string(to), fields[2], fields[1])
			cmdtest.Must(t, cmdtest.Admin(t, servers[0]).Set(t.Context(), guard.MarkerKey, half, 0).Err())
			command(t, "doctor", "--redis", four).Want(t, ui.ExitError, "not finished",
				"swap --from and --redis to undo it")
			command(t, "reconfigure", "--from", c.from, "--redis", c.to).Want(t, ui.ExitClean, "changed")
			n := len(strings.Split(c.to, ","))
			for _, marker := range marked(t, servers[:n]...) {
				if !strings.HasPrefix(marker, c.votes) {
					t.Errorf("marked %q", marker)
				}
			}
		})
	}
}

// TestReconfigureOfOneThatWasAway: the others go on voting, so nobody waits.
func TestReconfigureOfOneThatWasAway(t *testing.T) {
	servers := locktest.Servers(t, 3)
	three := cmdtest.Addrs(servers...)
	command(t, "init", "--redis", three).Want(t, ui.ExitClean)
	cmdtest.Must(t, cmdtest.Admin(t, servers[1]).Del(t.Context(), guard.MarkerKey).Err())
	command(t, "reconfigure", "--redis", three).Want(t, ui.ExitClean,
		"changed: the nodes that joined are in quarantine, and the others go on voting")
}

// TestInitOnUnfinishedChange: it never ends by itself, so no start of a service may pass over it.
func TestInitOnUnfinishedChange(t *testing.T) {
	servers := locktest.Servers(t, 3)
	for _, nodes := range []int{1, 3} {
		set := cmdtest.Addrs(servers[:nodes]...)
		to := guard.NewFingerprint(strings.Split(set, ","), lock.DefaultMaxTTL)
		half := fmt.Sprintf("changing|%s|before|0|change-died.1|60602|0|0|5:60000:abc", string(to))
		for _, marked := range []int{nodes, 1} { // the others are new
			forget(t, servers...)
			for _, s := range servers[:marked] {
				cmdtest.Must(t, cmdtest.Admin(t, s).Set(t.Context(), guard.MarkerKey, half, 0).Err())
			}
			for _, flags := range [][]string{{"--if-new"}, {"--new", set}} {
				out := command(t, append([]string{"init", "--redis", set}, flags...)...)
				out.Want(t, ui.ExitError, "a change to this configuration is not finished: it does not vote",
					`run the same "lockscope reconfigure" again to finish it, or swap --from and --redis to undo it`)
				if strings.Contains(out.Out, "by itself") || strings.Contains(out.Out, "by themselves") {
					t.Errorf("%d of %d nodes: %s", marked, nodes, out.Out)
				}
			}
			out := command(t, "init", "--redis", set, "--if-new", "-o", "json")
			out.Want(t, ui.ExitError, `"quarantine_left_seconds": 0`)
		}
	}
}

// forget deletes all keys on the servers, and resets their statistics.
func forget(t *testing.T, servers ...*redisproc.Server) {
	t.Helper()
	for _, s := range servers {
		cmdtest.Must(t, cmdtest.Admin(t, s).FlushAll(t.Context()).Err())
		cmdtest.Must(t, cmdtest.Admin(t, s).ConfigResetStat(t.Context()).Err())
	}
}
