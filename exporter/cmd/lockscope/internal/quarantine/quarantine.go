// Package quarantine knows for how long a server that restarted may have forgotten
// locks that are still valid, and whether somebody vouched for it instead.
package quarantine

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/redis/go-redis/v9"
)

// Left is what remains of it by uptime_in_seconds, which can exceed the truth by
// almost a second.
func Left(uptime, maxTTL time.Duration) time.Duration {
	return max(0, redlock.Quarantine(maxTTL)-max(0, uptime-time.Second))
}

// RoundUp rounds up to seconds: whoever waits must not wait too short.
func RoundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// ReadMarker reads the marker of a server whose run_id is known.
func ReadMarker(ctx context.Context, c redis.Cmdable, runID string) (redlock.Marker, error) {
	text, err := c.Get(ctx, redlock.MarkerKey).Result()
	if errors.Is(err, redis.Nil) {
		return redlock.MarkerNone, nil
	}
	return redlock.ReadMarker(text, runID), err
}
