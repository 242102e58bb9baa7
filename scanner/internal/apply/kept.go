package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/repair"
)

// sameSlack covers the imprecision of idle time, in whole seconds of a clock that Redis reads now and then, and the
// latency of a command.
const sameSlack = 2 * time.Second

// actIfUnused acts on a key whose value its process may reuse, if the lease is proved to be the planned one. It asks
// Redis when the key was last used before it looks at the value. WATCH detects what happens after that.
func (r *Repairer) actIfUnused(
	ctx context.Context, at node.Connection, f *ledger.Entry, a repair.Action, patterns []string,
) (repair.Outcome, time.Duration, error) {
	c := newChange(at, f, a, r.Now())
	unused := func(ctx context.Context) (repair.Outcome, time.Duration, error) {
		return c.unused(ctx, r.Now())
	}
	if a.IsDry() { // which must not look at the value: before Redis 7.2 that would be a use
		outcome, ttl, err := unused(ctx)
		if err == nil && outcome == repair.Done {
			outcome = repair.WouldDo
		}
		return outcome, ttl, err
	}
	outcome, ttl, err := c.watching(ctx, func(ctx context.Context) (repair.Outcome, time.Duration, error) {
		outcome, ttl, err := unused(ctx)
		if err != nil || outcome != repair.Done {
			return outcome, ttl, err
		}
		return r.examine(ctx, at, f, patterns)
	})
	if err != nil && redisconn.IsReply(err) && notPermitted(err) {
		err = fmt.Errorf("%w: grant %s: a value that a process may reuse needs +watch +multi +exec +object|idletime",
			err, lacks(f, a, err))
	}
	return outcome, ttl, err
}

// unused is [repair.Done] if the key has not been set again since it was last seen: it still expires when it was to
// expire, or nobody has used it. None of its commands counts as a use.
func (c *change) unused(ctx context.Context, now time.Time) (repair.Outcome, time.Duration, error) {
	f, passed := c.finding, max(0, now.Sub(c.finding.LastSeen))
	pipe := c.master.Pipeline()
	kind, left, idle := pipe.Type(ctx, f.Key), pipe.Do(ctx, "pttl", f.Key), pipe.ObjectIdleTime(ctx, f.Key)
	_, _ = pipe.Exec(ctx) // each has an error of its own
	ms, err := left.Int64()
	if err = errors.Join(kind.Err(), err); err != nil {
		return "", keyreader.Never, redisconn.Scrub(err)
	}
	ttl := keyreader.TTLOf(ms)
	asSeen := c.least < 0 && ttl < 0 || c.least >= 0 && ttl >= c.least
	switch {
	case kind.Val() == "none" || errors.Is(idle.Err(), redis.Nil):
		return repair.Gone, keyreader.Never, nil
	case !asSeen || kind.Val() != f.Type || !c.action.Deletes() && ttl >= 0 && ttl <= c.action.After():
		return repair.Changed, ttl, nil
	case f.TTL >= 0 && (ttl-(f.TTL-passed)).Abs() <= sameSlack:
		return repair.Done, ttl, nil
	case idle.Err() != nil && !redisconn.IsReply(idle.Err()):
		return "", ttl, idle.Err()
	case idle.Err() != nil:
		return "", ttl,
			fmt.Errorf("%w: a process may reuse this value, and the server does not report when the key "+
				"was last used: grant +object|idletime, or check it by hand (%w)", repair.ErrNotRepairable,
				redisconn.Scrub(idle.Err()))
	case idle.Val() < passed-sameSlack:
		return "", ttl,
			fmt.Errorf("%w: a process may reuse this value, and the key was used %v ago, after the plan was "+
				"made: it may have been released and acquired again: check it by hand", repair.ErrNotRepairable,
				idle.Val())
	}
	return repair.Done, ttl, nil
}
