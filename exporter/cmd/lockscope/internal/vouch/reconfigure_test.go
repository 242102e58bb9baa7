package vouch

import (
	"fmt"
	"slices"
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

// TestReconfigure grows three nodes to five while one of them is down, which joins later.
func TestReconfigure(t *testing.T) {
	servers := locktest.Servers(t, 5)
	three, five := cmdtest.Addrs(servers[:3]...), cmdtest.Addrs(servers...)
	command(t, "init", "--redis", three).Want(t, ui.ExitClean)
	cmdtest.Must(t, cmdtest.Locks(t, servers[:3]...))

	cmdtest.Must(t, servers[1].Pause())
	o := command(t, "reconfigure", "--from", three, "--redis", five)
	cmdtest.Must(t, servers[1].Resume())
	o.Want(t, ui.ExitFindings, "changed: nobody can take a lock for 1m01s", "did not answer", servers[1].Addr(),
		"run this again")
	if err := cmdtest.Locks(t, servers[:3]...); err == nil || !strings.Contains(err.Error(), "another configuration") {
		t.Errorf("the old configuration: %v", err)
	}
	if err := cmdtest.Locks(t, servers...); err == nil || !strings.Contains(err.Error(), "may not vote yet") {
		t.Errorf("the new configuration: %v", err)
	}

	o = command(t, "reconfigure", "--from", three, "--redis", five, "-o", "json")
	o.Want(t, ui.ExitClean)
	var r reconfigureReport
	o.Decode(t, &r)
	if r.Status != "changed" || len(r.Away) != 0 || r.Quarantine < 60 {
		t.Errorf("%+v", r)
	}
	for _, marker := range cmdtest.Marked(t, servers...) {
		if !strings.HasPrefix(marker, "quarantine|5:60000:") {
			t.Errorf("marked %q", marker)
		}
	}
}

// TestReconfigureFromAFile: --redis-file names the new nodes, and the old ones only if there is no --from.
func TestReconfigureFromAFile(t *testing.T) {
	servers := locktest.Servers(t, 4)
	three, four := cmdtest.Addrs(servers[:3]...), cmdtest.Addrs(servers...)
	lines := func(list string) string { return strings.ReplaceAll(list, ",", "\n") + "\n" }
	for _, c := range []struct {
		stdin, votes string
		args         []string
	}{
		{"", "4:60000:", []string{"--from", three, "--redis-file", cmdtest.ConfigFile(t, lines(four))}},
		{lines(four), "4:60000:", []string{"--from", three, "--redis-file", "-"}},
		{lines(three), "3:600000:", []string{"--redis-file", "-", "--from-max-ttl", "1m", "--max-ttl", "10m"}},
	} {
		forget(t, servers...)
		command(t, "init", "--redis", three).Want(t, ui.ExitClean)
		commandWith(t, nil, c.stdin, append([]string{"reconfigure"}, c.args...)...).Want(t, ui.ExitClean, "changed")
		for _, marker := range cmdtest.Marked(t, servers[:3]...) {
			if !strings.HasPrefix(marker, "quarantine|"+c.votes) {
				t.Errorf("%v: marked %q, want %s", c.args, marker, c.votes)
			}
		}
	}
}

func TestReconfigureRefuses(t *testing.T) {
	servers := locktest.Servers(t, 4)
	three, four := cmdtest.Addrs(servers[:3]...), cmdtest.Addrs(servers...)
	command(t, "init", "--redis", three).Want(t, ui.ExitClean)
	before := cmdtest.Marked(t, servers...)
	command(t, "reconfigure", "--redis", four).Want(t, ui.ExitError, "it has 3 nodes", "not 4 nodes",
		"give the one that it has as the old one (--from)")
	command(t, "reconfigure", "--cluster", "--redis", four).Want(t, ui.ExitError, "--cluster")
	command(t, "reconfigure", "--from", three, "--redis", four, "--node-names", "a,b").Want(t, ui.ExitError,
		"2 names for 4 nodes")
	command(t, "reconfigure", "--redis", four, "--from-node-names", "a,b").Want(t, ui.ExitError, "2 names for 4 nodes")
	cmdtest.Must(t, servers[3].Kill())
	command(t, "reconfigure", "--from", three, "--redis", four).Want(t, ui.ExitError,
		"every node that joins is needed",
		servers[3].Addr())
	cmdtest.Must(t, servers[3].Restart(t.Context()))
	cmdtest.Must(t, servers[0].Kill())
	cmdtest.Must(t, servers[1].Kill())
	command(t, "reconfigure", "--from", three, "--redis", four).Want(t, ui.ExitError, "1 of the 3 old nodes",
		"2 are needed", servers[0].Addr())
	if after := cmdtest.Marked(t, servers[2:]...); len(after) != 1 || after[0] != before[2] {
		t.Errorf("marked all the same: %q", after)
	}
}

// TestReconfigureStale names an earlier set of nodes. It is refused before any change, and the error names the node and
// both configurations.
func TestReconfigureStale(t *testing.T) {
	servers := locktest.Servers(t, 4)
	three, four := cmdtest.Addrs(servers[:3]...), cmdtest.Addrs(servers...)
	command(t, "init", "--redis", three).Want(t, ui.ExitClean)
	command(t, "reconfigure", "--from", three, "--redis", four).Want(t, ui.ExitClean)
	before := cmdtest.Marked(t, servers...)
	stale := []string{"reconfigure", "--from", three, "--redis", three, "--max-ttl", "10m", "--from-max-ttl", "1m"}
	command(t, stale...).Want(t, ui.ExitError, "4 nodes, max TTL 1m0s", "3 nodes, max TTL 1m0s",
		"3 nodes, max TTL 10m0s", "127.0.0.1:", "reconfigure: node has")
	command(t, "reconfigure", "--from", three, "--redis", four).Want(t, ui.ExitClean, "unchanged")
	command(t, "reconfigure", "--redis", four).Want(t, ui.ExitClean, "unchanged")
	if after := cmdtest.Marked(t, servers...); !slices.Equal(before, after) {
		t.Errorf("marked all the same: %q, before %q", after, before)
	}
}

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
			fields := strings.Split(cmdtest.Marked(t, servers[0])[0], "|")
			half := fmt.Sprintf("changing|%s|%s|0|change-died.1|60602|0|0|%s", string(to), fields[2], fields[1])
			cmdtest.Must(t, cmdtest.Admin(t, servers[0]).Set(t.Context(), guard.MarkerKey, half, 0).Err())
			command(t, "doctor", "--redis", four).Want(t, ui.ExitError, "not finished",
				"swap --from and --redis to undo it")
			command(t, "reconfigure", "--from", c.from, "--redis", c.to).Want(t, ui.ExitClean, "changed")
			n := len(strings.Split(c.to, ","))
			for _, marker := range cmdtest.Marked(t, servers[:n]...) {
				if !strings.HasPrefix(marker, c.votes) {
					t.Errorf("marked %q", marker)
				}
			}
		})
	}
}

// forget makes the servers new, as far as locks are concerned.
func forget(t *testing.T, servers ...*redisproc.Server) {
	t.Helper()
	for _, s := range servers {
		cmdtest.Must(t, cmdtest.Admin(t, s).FlushAll(t.Context()).Err())
		cmdtest.Must(t, cmdtest.Admin(t, s).ConfigResetStat(t.Context()).Err())
	}
}
