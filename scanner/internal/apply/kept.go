package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/lock/redlock/redisinfo"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
)

// Redis keeps the last use of a key in whole seconds of its lru_clock. unusedFor is how old the plan's own look at the
// value must seem, so that a use after it is younger. Before Redis 7.2 each look is a use.
const (
	unusedFor = 2 * time.Second
	askAgain  = unusedFor / 8
	// keysAtOnce bounds the connections that watch a key each.
	keysAtOnce = 64
)

// Unwritten completes each entry whose value a process may reuse with the time until which nobody wrote its key, or
// says in errs why not. It leaves entries alone that have an error. Each key takes some seconds, many at a time.
func (r *Repairer) Unwritten(ctx context.Context, found []registry.Entry, errs []error, patterns []string) {
	node.Each(len(found), keysAtOnce, func(i int) {
		if f := &found[i]; f.Kept && errs[i] == nil {
			f.Until, errs[i] = r.unwritten(ctx, f, patterns)
		}
	})
}

// unwritten looks at the value of a plan and watches its key until a use after that is younger than the look. WATCH
// detects each write until then: a client that releases the lock and takes it again does that later, and OBJECT
// IDLETIME shows it. until is the server's lru_clock.
func (r *Repairer) unwritten(ctx context.Context, f *registry.Entry, patterns []string) (until int64, err error) {
	at, err := node.Find(ctx, r.Sources, f.Node)
	if err != nil {
		return until, err
	}
	c := newChange(at, f, repair.Action{}, r.Now())
	outcome, _, err := c.watching(ctx, func(ctx context.Context) (inspect.Outcome, time.Duration, error) {
		outcome, ttl, err := r.examine(ctx, at, f, patterns)
		if err == nil && outcome == inspect.Done {
			err = c.settle(ctx)
		}
		return outcome, ttl, err
	}, func(ctx context.Context, conn *redis.Conn) error {
		info, err := node.Info(ctx, c.master)
		if until = info.Number(lruClock); err == nil && until == 0 {
			err = fmt.Errorf("%w: a process may reuse this value, and the server does not report its lru_clock: "+
				"grant +info, or check it by hand", repair.ErrNotRepairable)
		}
		if err == nil {
			_, err = transact(ctx, conn, "pttl", f.Key) // of EXEC only the verdict counts
		}
		return err
	})
	switch {
	case err == nil && outcome != inspect.Done:
		err = fmt.Errorf("%w: a process may reuse this value, and the key changed while the plan was made",
			repair.ErrNotRepairable)
	case err != nil && redisconn.IsReply(err) && notPermitted(err):
		err = lacksKept(f, repair.Action{}, err)
	}
	return until, err
}

// settle waits until the last use of the key is unusedFor ago.
func (c *change) settle(ctx context.Context) error {
	ticks := time.NewTicker(askAgain)
	defer ticks.Stop()
	for began := time.Now(); ; {
		idle, err := c.idle(ctx, c.master.ObjectIdleTime(ctx, c.finding.Key))
		switch {
		case err != nil:
			return err
		case idle >= unusedFor:
			return nil
		case time.Since(began) > 3*unusedFor:
			return fmt.Errorf("%w: a process may reuse this value, and the key is in use: it was used %v ago",
				repair.ErrNotRepairable, idle)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// idle is how long nobody has used the key, if the server reports that.
func (c *change) idle(ctx context.Context, cmd *redis.DurationCmd) (time.Duration, error) {
	idle, err := cmd.Result()
	switch {
	case err == nil:
		return idle, nil
	case errors.Is(err, redis.Nil):
		return 0, errGone
	case !redisconn.IsReply(err):
		return 0, err
	}
	return 0, fmt.Errorf("%w: a process may reuse this value, and the server does not report when the key "+
		"was last used: grant +object|idletime, or check it by hand (%w)", repair.ErrNotRepairable, redisconn.Scrub(err))
}

// lacksKept names what such a value needs beside the rules for all others.
func lacksKept(f *registry.Entry, a repair.Action, err error) error {
	return fmt.Errorf("%w: grant %s: a value that a process may reuse needs +watch +multi +exec +object|idletime",
		err, lacks(f, a, err))
}

// actIfUnused acts on a key whose value its process may reuse, if the lease is proved to be the planned one. It asks
// Redis when the key was last used before it looks at the value. WATCH detects what happens after that.
func (r *Repairer) actIfUnused(
	ctx context.Context, at node.Connection, f *registry.Entry, a repair.Action, patterns []string,
) (inspect.Outcome, time.Duration, error) {
	c := newChange(at, f, a, r.Now())
	if a.IsDry() { // which must not look at the value: before Redis 7.2 that would be a use
		outcome, ttl, err := c.unused(ctx)
		if err == nil && outcome == inspect.Done {
			outcome = inspect.WouldDo
		}
		return outcome, ttl, err
	}
	outcome, ttl, err := c.watching(ctx, func(ctx context.Context) (inspect.Outcome, time.Duration, error) {
		outcome, ttl, err := c.unused(ctx)
		if err != nil || outcome != inspect.Done {
			return outcome, ttl, err
		}
		return r.examine(ctx, at, f, patterns)
	}, c.commit)
	if err != nil && redisconn.IsReply(err) && notPermitted(err) {
		err = lacksKept(f, a, err)
	}
	return outcome, ttl, err
}

// unused is [inspect.Done] if nobody has used the key since the plan proved that it was not written. The expiry proves
// nothing: it may be the same for each lease, such as midnight. None of its commands counts as a use.
func (c *change) unused(ctx context.Context) (inspect.Outcome, time.Duration, error) {
	f, pipe := c.finding, c.master.Pipeline()
	kind, left, last := pipe.Type(ctx, f.Key), pipe.Do(ctx, "pttl", f.Key), pipe.ObjectIdleTime(ctx, f.Key)
	info := pipe.Info(ctx, "server") // after the idle time, so that a tick in between makes the use younger
	_, _ = pipe.Exec(ctx)            // each has an error of its own
	ms, err := left.Int64()
	if err = errors.Join(kind.Err(), err); err != nil {
		return "", keyreader.Never, redisconn.Scrub(err)
	}
	ttl := keyreader.TTLOf(ms)
	asSeen := c.least < 0 && ttl < 0 || c.least >= 0 && ttl >= c.least
	idle, err := c.idle(ctx, last)
	switch {
	case kind.Val() == "none" || errors.Is(err, errGone):
		return inspect.Gone, keyreader.Never, nil
	case !asSeen || kind.Val() != f.Type || !c.action.Deletes() && ttl >= 0 && ttl <= c.action.After():
		return inspect.Changed, ttl, nil
	case err != nil:
		return "", ttl, err
	case !before(redisinfo.Parse(info.Val()).Number(lruClock)-int64(idle.Seconds()), f.Until):
		return "", ttl,
			fmt.Errorf("%w: a process may reuse this value, and the key was used %v ago, after the plan was "+
				"made: it may have been released and acquired again: check it by hand", repair.ErrNotRepairable, idle)
	}
	return inspect.Done, ttl, nil
}

// lruClock is the field of INFO with the clock by which Redis measures idle times. It has lruBits bits.
const (
	lruClock = "lru_clock"
	lruBits  = 24
)

// before reports whether a time of the lru_clock is before another one. It is after that one by at most two lives of a
// plan, or before.
func before(at, than int64) bool {
	const all, recent = 1 << lruBits, int64(2 * repair.Life / time.Second)
	passed := (than - at) & (all - 1)
	return passed > 0 && passed < all-recent
}
