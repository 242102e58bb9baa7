// Package quarantine knows for how long a server that restarted may have forgotten
// locks that are still valid, and whether somebody vouched for it instead.
package quarantine

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Marker is the key at which redlock.Vouch leaves what it says of a server.
const Marker = "lockscope:life"

// Length is how long package redlock keeps a node from voting after its start, if locks
// may live for maxTTL.
func Length(maxTTL time.Duration) time.Duration { return maxTTL + maxTTL/100 + 2*time.Millisecond }

// Left is what remains of it by uptime_in_seconds, which can exceed the truth by
// almost a second.
func Left(uptime, maxTTL time.Duration) time.Duration {
	return max(0, Length(maxTTL)-max(0, uptime-time.Second))
}

// RoundUp rounds up to seconds: whoever waits must not wait too short.
func RoundUp(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }

// Word is what a marker says of the process that has it.
type Word int

// What a marker says.
const (
	None     Word = iota // there is none
	Vouched              // this process was vouched for
	Vouching             // a vouch for it is under way, or did not finish
	Leftover             // it is about another process: this one started later, or has another's data
)

// Read reads the marker of a server whose run_id is known.
func Read(ctx context.Context, c redis.Cmdable, runID string) (Word, error) {
	text, err := c.Get(ctx, Marker).Result()
	if errors.Is(err, redis.Nil) {
		return None, nil
	}
	return parse(text, runID), err
}

// parse reads "vouched|run_id|nonce"; before the second round it says vouching.
func parse(text, runID string) Word {
	state, rest, _ := strings.Cut(text, "|")
	of, _, _ := strings.Cut(rest, "|")
	switch {
	case text == "":
		return None
	case runID == "" || of != runID:
		return Leftover
	case state == "vouched":
		return Vouched
	case state == "vouching":
		return Vouching
	}
	return Leftover
}
