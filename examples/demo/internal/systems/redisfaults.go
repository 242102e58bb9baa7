package systems

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/examples/demo/internal/faults"
	"github.com/lockscope/lockscope/examples/demo/internal/screen"
)

// Faults leaves out what these servers cannot or must not suffer.
func (s *redisNodes) Faults(f *faults.Faults) []faults.Fault {
	crash := faults.Fault{At: 0.40, Name: "crashed holder", Happen: f.Crash(
		fmt.Sprintf("its keys stay for a TTL of %v", s.cfg.TTL))}
	if s.own == nil {
		return []faults.Fault{crash}
	}
	eternal := faults.Fault{At: 0.10, Name: "key without TTL", Happen: s.plantEternalKey(f)}
	majority := faults.Fault{At: 0.62, Name: "majority paused", Happen: f.Outage(s.majority())}
	if len(s.urls) < 3 {
		return []faults.Fault{eternal, crash, majority}
	}
	node := s.own.Nodes()[1]
	paused := f.Disrupt(faults.Disruption{
		Word: "PAUSE", What: fmt.Sprintf("node %s hangs for %v; the other %d go on", node.Addr(), f.Brief(),
			len(s.urls)-1),
		Take: node.Pause, GiveBack: node.Resume, BackWord: "RESUME",
		Back: fmt.Sprintf("node %s answers again", node.Addr()),
		Did:  fmt.Sprintf("one of %d hung for", len(s.urls)),
	})
	return []faults.Fault{eternal, {At: 0.20, Name: "paused node", Happen: paused}, crash, majority}
}

// majority is so many nodes that no lease can be renewed and none acquired without them.
func (s *redisNodes) majority() faults.Outage {
	all := s.own.Nodes()
	hung := all[(len(all)-1)/2:]
	o := faults.Outage{
		Hang: fmt.Sprintf("%d of %d nodes hang", len(hung), len(all)),
		Back: fmt.Sprintf("%d of %d nodes answer again", len(all), len(all)),
		They: "the nodes",
	}
	for _, n := range hung {
		o.Hung = append(o.Hung, n)
	}
	return o
}

// plantEternalKey leaves a lock as a library without TTLs would.
func (s *redisNodes) plantEternalKey(f *faults.Faults) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		const resource = "legacy-import"
		key := s.prefix + resource
		err := s.each(ctx, func(ctx context.Context, node *redis.Client) error {
			return node.Set(ctx, key, "another library", 0).Err()
		})
		if err != nil {
			return "", err
		}
		f.Out.Event(screen.Yellow, "PLANT", "another library sets %s on every node, without a TTL", key)
		held, err := f.Refused(ctx, "legacy-1", resource)
		if err != nil {
			return "", fmt.Errorf("a NoWait attempt on %s: %w", key, err)
		}
		f.Out.Event(screen.Yellow, "HELD", "%v", held)
		return fmt.Sprintf("%s is blocked for good; NoWait says so at once instead of waiting", resource), nil
	}
}
