// Package quarantine computes how long a server may have forgotten locks that are still
// valid: from its marker or, if that does not decide, from its uptime.
package diagnosis

import (
	"context"
	"errors"
	"time"

	"github.com/lockscope/lockscope/lock/redlock"
	"github.com/lockscope/lockscope/lock/redlock/guard"
	"github.com/redis/go-redis/v9"
)

// EnforcedFrom is the size of a set from which on a node votes only with a marker that proves that it remembers.
const EnforcedFrom = 3

// Left is what remains of it by uptime_in_seconds, which can exceed the truth by
// almost a second.
func QuarantineLeft(uptime, maxTTL time.Duration) time.Duration {
	return max(0, redlock.Quarantine(maxTTL)-max(0, uptime-time.Second))
}

// RoundUp rounds up to seconds, so that nobody waits too short.
func RoundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// LeftBy is what remains by the marker of a server that votes only with one. Where it has
// none of its own, its quarantine begins only when a service asks for its vote.
func QuarantineLeftBy(m redlock.Marker, maxTTL time.Duration, now time.Time) time.Duration {
	switch m.State {
	case redlock.MarkerVoting:
		return 0
	case redlock.MarkerQuarantined:
		return m.Left(maxTTL, now)
	}
	return redlock.Quarantine(maxTTL)
}

// ReadMarker reads the marker of a server whose incarnation is known: see redisinfo.
func ReadMarker(ctx context.Context, c *redis.Client, incarnation string) (redlock.Marker, error) {
	text, err := c.Get(ctx, guard.MarkerKey).Result()
	if errors.Is(err, redis.Nil) {
		return redlock.Marker{}, nil
	}
	return redlock.ReadMarker(text, incarnation, c.Options().DB), err
}
