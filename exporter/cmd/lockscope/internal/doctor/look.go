package doctor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/diagnosis"
	"github.com/lockscope/lockscope/exporter/cmd/lockscope/internal/servers"
	"github.com/lockscope/lockscope/lock/redlock/stored"

	"github.com/redis/go-redis/v9"
)

const reachTimeout = 5 * time.Second

// sight is what a server says of itself at one time.
type sight struct {
	err     error
	missing []string // grants
	asked   bool     // INFO was read
	runID   string   // incarnation of its process; "" if it reports none
	uptime  time.Duration
	marker  stored.Marker
}

// fit reports that nothing is known that would stop a vouch halfway.
func (s sight) fit() bool { return s.err == nil && len(s.missing) == 0 }

// lookAt asks all nodes at once. Without --cluster every client is of one server.
func lookAt(ctx context.Context, nodes []servers.Node, g diagnosis.GuardFlags) []sight {
	seen := make([]sight, len(nodes))
	var asking sync.WaitGroup
	for i, n := range nodes {
		asking.Go(func() { seen[i] = look(ctx, n.Client.(*redis.Client), g) })
	}
	asking.Wait()
	return seen
}

func look(ctx context.Context, c *redis.Client, g diagnosis.GuardFlags) (s sight) {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if s.missing, s.err = diagnosis.MissingToVouch(ctx, c); !s.fit() {
		return s
	}
	text, err := c.Info(ctx).Result()
	if err != nil {
		s.err = fmt.Errorf("INFO: %w", err)
		return s
	}
	info := diagnosis.ParseInfo(text)
	s.asked, s.runID, s.uptime = true, info.Incarnation, info.Uptime
	if g.EvictingNodes {
		s.runID = info.RunID
	}
	s.marker, s.err = diagnosis.ReadMarker(ctx, c, s.runID)
	return s
}
