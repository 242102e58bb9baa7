package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
)

// refuseOtherModes refuses servers that are no nodes by themselves, before a key is written. A server that does not say
// what it is is left to the first acquire.
func (b *bench) refuseOtherModes(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leftTimeout)
	defer cancel()
	var all []error
	for i, n := range b.nodes {
		c, ok := n.Client.(*redis.Client)
		if !ok {
			continue
		}
		switch redisinfo.Parse(c.Info(ctx, "server").Val())["redis_mode"] {
		case "cluster":
			all = append(all, fmt.Errorf("%s is one server of a Redis Cluster, which is one node: use --cluster",
				b.names[i]))
		case "sentinel":
			all = append(all, fmt.Errorf("%s is a Sentinel: name the master that it watches with --sentinel-master",
				b.names[i]))
		}
	}
	return errors.Join(all...)
}
