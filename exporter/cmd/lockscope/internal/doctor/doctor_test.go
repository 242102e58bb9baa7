package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/lock/locktest/redisproc"
)

// TestDoctorStatuses examines three sound servers as if each had its own machine, and then two servers with faults.
func TestDoctorStatuses(t *testing.T) {
	t.Parallel()
	servers := locktest.Servers(t, 3, redisproc.WithArgs("--appendonly", "yes", "--appendfsync", "always",
		"--bind", "127.0.0.1", "127.0.0.2", "127.0.0.3", "--protected-mode", "no"))
	var list string
	for i, s := range servers {
		list += fmt.Sprintf("127.0.0.%d:%d,", i+1, s.Port())
	}
	fresh := command(t, cmdtest.Patient("--redis", list, "-o", "json")...)
	fresh.Want(t, ui.ExitFindings, "lockscope init")
	unvouched := results(t, fresh)
	for check, r := range unvouched {
		if r.Status == inspect.Fail || r.Status == inspect.Warn &&
			!slices.Contains(append(measured, "marker"), r.Check) {
			t.Errorf("%s: %+v", check, r)
		}
	}
	wantResult(t, unvouched, "marker", inspect.Warn, "nobody vouched for the node: it does not vote for")
	command(t, "init", "--redis", list).Want(t, ui.ExitClean)
	o := command(t, cmdtest.Patient("--redis", list, "-o", "json")...)
	wantSound(t, o, "the user has every right that locks need",
		"it votes for this configuration: 3 nodes, max TTL 1m0s")
	var r Report
	o.Decode(t, &r)
	if len(r.Nodes) != 3 || r.Nodes[0].Version == "" || r.Nodes[0].Samples == 0 || r.Nodes[0].PingP99 == 0 ||
		!r.Nodes[0].Vouched || r.Nodes[0].Marker != "voting" || r.Nodes[0].Quarantine != 0 || len(r.Results) < 30 {
		t.Errorf("%+v", r)
	}
	command(t, cmdtest.Patient("--redis", cmdtest.Addrs(servers...), "--node-names", list)...).Want(t, ui.ExitFindings,
		"3 nodes are at 127.0.0.1")

	short := results(t, command(t, "doctor", "--for", "100ms", "--redis", list, "--ttl", "2s", "-o", "json"))["latency"]
	if !strings.Contains(short.Detail+short.Advice, "100ms") {
		t.Errorf("not the node timeout of services with this TTL: %+v", short)
	}

	cmdtest.Must(t, servers[2].Restart(t.Context()))
	command(t, cmdtest.Patient("--redis", list, "-o", "json")...).Decode(t, &r)
	if n := r.Nodes[2]; n.Vouched || n.Quarantine < 50 || n.Quarantine > 61 {
		t.Errorf("restarted: %+v", n)
	}

	cmdtest.Must(t, cmdtest.Admin(t, servers[1]).ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	cmdtest.Must(t, cmdtest.Admin(t, servers[1]).ConfigSet(t.Context(), "maxmemory", "100mb").Err())
	command(t, cmdtest.Patient("--redis", list)...).Want(t, ui.ExitError, "1 fail",
		"set maxmemory-policy noeviction")
}

func TestDoctorOfServersThatRefuse(t *testing.T) {
	t.Parallel()
	const wrong = "wr0ng-s3cret"
	servers := locktest.Servers(t, 2)
	cmdtest.Must(t, servers[0].Kill())
	cmdtest.Must(t, cmdtest.Admin(t, servers[1]).ConfigSet(t.Context(), "requirepass", "right").Err())
	o := command(t, cmdtest.Patient("--redis", servers[0].Addr(), "--redis", "redis://:"+wrong+"@"+
		servers[1].Addr())...)
	o.Want(t, ui.ExitError, "refused", "WRONGPASS", "only 0 can be reached")
	o.WantNot(t, wrong)
	tls := command(t, cmdtest.Patient("--redis", "rediss://"+servers[1].Addr())...)
	tls.Want(t, ui.ExitError, "connection", servers[1].Addr())
	cluster := command(t, cmdtest.Patient("--cluster", "--redis", servers[0].Addr())...)
	cluster.Want(t, ui.ExitError, "refused")
}
