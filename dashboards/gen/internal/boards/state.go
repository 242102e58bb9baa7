package boards

import (
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/alerts"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/nodes"
	"github.com/lockscope/lockscope/dashboards/gen/internal/boards/resources"
	"github.com/lockscope/lockscope/dashboards/gen/internal/config"
	"github.com/lockscope/lockscope/dashboards/gen/internal/draw"
)

// stateTiles show the present state. Each is red in a total outage, although no call returns then.
func stateTiles(c config.Config) []draw.Panel {
	all := []draw.Panel{
		nodes.ToSpare("Usable lock nodes beyond the quorum, of the set with the fewest. Good: 1 of 3, 2 of 5. At 0 the " +
			"next node that fails stops all locking in its set. Below 0 nobody gets a lock: see Nodes."),
		alerts.Firing(),
		resources.LongestWait(c),
		resources.WaitingNow(c),
		resources.AcquiresNow(),
		draw.Tile("Leases lost", "short", 0, draw.AnyIsBad(),
			draw.Now(`sum(increase(distributed_lock_lost_total{R,reason!="max_hold"}[$__range]))`),
			"Leases in the time shown that ended in use. Good: 0. Two holders may have worked at once, unless the "+
				"resource checks fencing tokens. Resources shows which and why."),
	}
	for i := range all {
		all[i] = all[i].Wide(4)
		all[i].Size = 42
	}
	return all
}
