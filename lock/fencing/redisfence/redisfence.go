// Package redisfence makes data in Redis refuse late writes of former holders; see package fencing.
//
//	pay := redisfence.NewScript(`return redis.call('INCRBY', KEYS[1], ARGV[1])`)
//	...
//	_, err := pay.Run(ctx, client, lease.Resource(), lease.Fence(), []string{"balance:1001"}, 30)
//	// *fencing.StaleError: a later lease has written, and the script did not run
//
// For each key that a script names, Redis keeps the resource's highest token next to it; keys with the same hash tag
// share it. So a script must name all keys that it reads or writes: lower tokens are refused only on these. The tokens
// are as durable as the data: a failover that loses the last writes loses their token, and a late write may then
// succeed. The user needs the commands get and set on lockscope:seen:*, and those of the script.
package redisfence

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/fencing"
	"github.com/lockscope/lockscope/lock/redlock/hashslot"
)

// Script is a Lua script that runs only if its token is not too low. It is safe for concurrent use.
type Script struct{ script *redis.Script }

// staleReply begins the reply to a token that is too low.
const staleReply = "STALEFENCE "

// check compares tokens as text: a number of Lua has 53 bits. It removes its keys and arguments, so that the script
// after it sees its own.
const check = `do
	local count, fence = table.remove(ARGV), table.remove(ARGV)
	for i = 1, count do
		local key = table.remove(KEYS)
		local seen = redis.call('GET', key) or '0'
		if #fence < #seen or #fence == #seen and fence < seen then
			return redis.error_reply('` + staleReply + `' .. seen)
		end
		if fence ~= seen then redis.call('SET', key, fence) end
	end
end
`

// NewScript returns a Script that runs body, a script for Redis' EVAL, after the check. Both are one step for Redis.
func NewScript(body string) *Script { return &Script{redis.NewScript(check + body)} }

// Run runs the script under the token of a lease of resource and returns its reply. All keys have to be in one slot of
// a Redis Cluster. From the first Run with a token on, lower tokens are refused for good where a script names one of
// these keys, in any order. The same token passes again: a lease may write often. If you read under the lock,
// read in a Script.
//
// Run fails with *fencing.StaleError if fence is too low, with lock.ErrInvalidOption if fence is 0 or keys is empty,
// and with errors of the client. If the client gives up on an answer, the script may still run.
func (s *Script) Run(ctx context.Context, c redis.Scripter, resource string, fence uint64, keys []string, args ...any) (
	any, error,
) {
	if err := fencing.Check(resource, fence); err != nil {
		return nil, err
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("redisfence: %w: no keys for %q: name what the script writes", lock.ErrInvalidOption,
			resource)
	}
	named := slices.Clone(keys)
	for _, key := range keys {
		if seen := "lockscope:seen:{" + hashslot.Tag(key) + "}:" + resource; !slices.Contains(named[len(keys):], seen) {
			named = append(named, seen)
		}
	}
	args = append(slices.Clone(args), strconv.FormatUint(fence, 10), len(named)-len(keys))
	reply, err := s.script.Run(ctx, c, named, args...).Result()
	if err == nil {
		return reply, nil
	}
	if text, stale := strings.CutPrefix(err.Error(), staleReply); stale {
		highest, _ := strconv.ParseUint(text, 10, 64) // 0 if unknown
		return nil, &fencing.StaleError{Resource: resource, Fence: fence, Seen: highest}
	}
	return nil, fmt.Errorf("redisfence: %q: %w", resource, err)
}

// Set sets a key as redis.Client.Set does, under the token of a lease of resource; ttl 0 is no TTL. The token outlives
// the key. Set fails as [Script.Run] does.
func Set(ctx context.Context, c redis.Scripter, resource string, fence uint64, key string, value any,
	ttl time.Duration,
) error {
	if ttl < 0 {
		return fmt.Errorf("redisfence: %w: the TTL %v is negative", lock.ErrInvalidOption, ttl)
	}
	_, err := setScript.Run(ctx, c, resource, fence, []string{key}, value, (ttl + time.Millisecond - 1).Milliseconds())
	return err
}

var setScript = NewScript(`
	if ARGV[2] == '0' then return redis.call('SET', KEYS[1], ARGV[1]) end
	return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
`)
