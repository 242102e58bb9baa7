package scan

import (
	"testing"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/ui"
	"github.com/lockscope/lockscope/lock/locktest"
	"github.com/lockscope/lockscope/scanner/report"
)

// TestScanOfReaders: readers that leaked are findings in the table and in JSON, with the node and the holder.
func TestScanOfReaders(t *testing.T) {
	servers := locktest.Servers(t, 3)
	cmdtest.VouchFor(t, servers...)
	c := cmdtest.Admin(t, servers[0])
	secret := cmdtest.SetReader(t, c, "lock:few", time.Hour/2, time.Hour/2)
	cmdtest.SetReader(t, c, "lock:stays", -time.Hour, 0)
	args := []string{"--redis", cmdtest.Addrs(servers...)}
	o := command(t, cmdtest.Quick(args...)...)
	o.Want(t, ui.ExitFindings, "orphan  "+servers[0].Addr()+"  lock:few", "no_ttl  "+servers[0].Addr()+"  lock:stays",
		"worker-7/42", "reader of few: its token is on 1 of 3 nodes, below the quorum of 2",
		"reader of stays: its TTL is -1: the time of its last reader")
	var d report.Document
	o = command(t, cmdtest.Quick(append(args, "-o", "json")...)...)
	o.Decode(t, &d)
	o.WantNot(t, secret)
	if len(d.Findings) != 2 {
		t.Fatalf("%+v", d.Findings)
	}
	for _, f := range d.Findings {
		if f.Node != servers[0].Addr() || f.Holder == nil || f.Holder.Name != "worker-7/42" || f.Holder.Kind != "read" {
			t.Errorf("%+v, holder %+v", f, f.Holder)
		}
	}
}
