// Package apply acts on keys: it expires or deletes a key that has not changed since it was seen, in one step of the
// server. A [Repairer] decides (apply.go) and acts by a script (script.go), on a key (repair.lua) or on one reader of a
// read/write lock (reader.lua), or by WATCH where scripts may not run (watched.go). It takes more care with values that
// a process may reuse (kept.go). step.go carries out the steps of a plan, after examine.go has looked at the key.
package apply

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/clock"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
)

// ttlSlack is how much more than the elapsed time a TTL may have shrunk, for clocks of different speed and commands
// in flight.
const ttlSlack = time.Second

// Repairer acts on the keys of the sources.
type Repairer struct {
	Sources    []*node.Source
	OneRedlock bool          // said of the sources; see package orphan
	MinAge     time.Duration // for which a value must have been seen
	Now        func() time.Time
}

// Repair applies the action to the key of an entry.
func (r *Repairer) Repair(
	ctx context.Context, f *registry.Entry, a repair.Action,
) (inspect.Outcome, time.Duration, error) {
	at, err := node.Find(ctx, r.Sources, f.Node)
	if err != nil {
		return "", keyreader.Never, err
	}
	return r.act(ctx, at, f, a)
}

// OldEnough returns an error unless a value was first seen at least the minimum age ago, whatever age the value
// claims.
func (r *Repairer) OldEnough(first time.Time) error {
	now := r.Now()
	if left := r.MinAge - now.Sub(first); left > 0 {
		return fmt.Errorf("%w: first seen %v ago, minimum age %v: wait another %v", repair.ErrTooYoung,
			clock.Round(max(0, now.Sub(first))), r.MinAge, max(clock.Round(left), time.Millisecond))
	}
	return nil
}

// Lockable returns an error unless f's key is a lock's and its value identifies one owner.
func Lockable(f *registry.Entry, patterns []string) error {
	switch {
	case f.Class == inspect.ForeignType || f.Identity == "" || f.Identity == f.Type:
		return fmt.Errorf("%w: its value does not identify one lease: check it by hand", repair.ErrNotRepairable)
	case keyreader.IsHelper(f.Key):
		return fmt.Errorf("%w: it is a helper key, not a lock", repair.ErrNotRepairable)
	case !slices.ContainsFunc(patterns, func(p string) bool { return keyreader.Matches(p, f.Key) }):
		return fmt.Errorf("%w: the key does not match %q", repair.ErrNotRepairable, patterns)
	case f.Hold.Format == inspect.FormatLockscope && f.TTL >= 0 && f.Class == inspect.HeldTooLong:
		return fmt.Errorf("%w: its holder renews it, and would not hear of a repair in time: "+
			"use \"lockscope revoke\"", repair.ErrNotRepairable)
	case !f.Distinct:
		return fmt.Errorf("%w: %s: check it by hand", repair.ErrNotRepairable,
			cmp.Or(f.Doubt, "its value may be the same for every owner"))
	}
	return nil
}

func (r *Repairer) act(
	ctx context.Context, at node.Connection, f *registry.Entry, a repair.Action,
) (inspect.Outcome, time.Duration, error) {
	c := newChange(at, f, a, r.Now())
	act := c.byScript
	if ofReader(f) {
		act = c.byReaderScript
	}
	outcome, ttl, err := act(ctx)
	if err != nil && refusedScript(err) && !ofReader(f) {
		outcome, ttl, err = c.watched(ctx)
	}
	switch {
	case err != nil && redisconn.IsReply(err) && notPermitted(err):
		err = fmt.Errorf("%w: grant %s (RepairACL has all rules)", err, lacks(f, a, err))
	case err != nil && redis.HasErrorPrefix(err, "MOVED"):
		err = fmt.Errorf("the key's slot moved to another node: sweep again: %w", err)
	}
	return outcome, ttl, err
}

func newChange(at node.Connection, f *registry.Entry, a repair.Action, now time.Time) *change {
	return &change{master: at.Master, finding: f, action: a, least: leastTTL(f, now), now: now}
}

// leastTTL is the TTL below which the key has been changed since f. Never stands for a key without a TTL.
func leastTTL(f *registry.Entry, now time.Time) time.Duration {
	if f.TTL < 0 {
		return keyreader.Never
	}
	passed := max(0, now.Sub(f.LastSeen))
	return max(0, f.TTL-passed-passed/100-ttlSlack)
}

// mostTTL is the TTL above which the key has been renewed since f.
func mostTTL(f *registry.Entry, now time.Time) time.Duration {
	passed := max(0, now.Sub(f.LastSeen))
	return max(0, f.TTL-passed+passed/100+ttlSlack)
}
