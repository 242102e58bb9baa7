package serve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/cmdtest"
	"github.com/lockscope/lockscope/lock/locktest"
)

// TestGroupsInMetrics: each group has its own quorum, so the metrics of a node name its group.
func TestGroupsInMetrics(t *testing.T) {
	servers := locktest.Servers(t, 2)
	path := cmdtest.ConfigFile(t, fmt.Sprintf("groups: [{name: orders, redis: [%q]}, {name: stock, redis: [%q]}]\n",
		servers[0].Addr(), servers[1].Addr()))
	cmdtest.Must(t, servers[1].Kill())
	url, _ := serving(t, "--config", path)
	want := []string{
		fmt.Sprintf(`distributed_lock_scanner_up{group="orders",lock_node=%q} 1`, servers[0].Addr()),
		fmt.Sprintf(`distributed_lock_scanner_up{group="stock",lock_node=%q} 0`, servers[1].Addr()),
	}
	cmdtest.Eventually(t, strings.Join(want, " and "), func() bool {
		_, body := cmdtest.Get(t, url+"/metrics")
		return strings.Contains(body, want[0]) && strings.Contains(body, want[1])
	})
}
