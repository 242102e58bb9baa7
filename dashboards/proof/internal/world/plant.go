package world

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Keys for the scanner to find, beside the demo's key without a TTL.
const (
	longKey    = "lock:session-cache"
	foreignKey = "lock:members"
	orphanKey  = "lock:refund:7"

	longTTL = 3 * time.Hour    // above the scanner's default limit of one hour
	safeTTL = 30 * time.Minute // below it
)

// plant leaves one finding of each class that does not come from a long hold.
func (w *World) plant(ctx context.Context) error {
	// As lockscope writes it: token:counter|instance|since|traceparent|attempt.
	orphan := fmt.Sprintf("%s:1|refunds-1|%d||", strings.Repeat("0a", 16), time.Now().UnixMilli())
	return errors.Join(
		w.onNodes(ctx, w.nodes, func(c *redis.Client) error {
			return c.Set(ctx, longKey, "another library",
				longTTL).Err()
		}),
		w.onNodes(ctx, w.nodes, func(c *redis.Client) error {
			return errors.Join(c.SAdd(ctx, foreignKey, "anna", "ben").Err(), c.Expire(ctx, foreignKey, safeTTL).Err())
		}),
		w.onNodes(ctx, w.nodes[:1], func(c *redis.Client) error {
			return c.Set(ctx, orphanKey, orphan,
				safeTTL).Err()
		}),
	)
}

func (w *World) onNodes(ctx context.Context, nodes []node, do func(*redis.Client) error) error {
	var errs []error
	for _, n := range nodes {
		c := adminOf(n)
		errs = append(errs, do(c), c.Close())
	}
	return errors.Join(errs...)
}

// adminOf returns a client that fails soon on a node that hangs.
func adminOf(n node) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: n.addr, MaxRetries: -1, PoolSize: 1, DisableIdentity: true,
		DialTimeout: time.Second, ReadTimeout: time.Second, WriteTimeout: time.Second})
}
