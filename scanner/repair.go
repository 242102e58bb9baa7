package scanner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/internal/node"
	"github.com/lockscope/lockscope/scanner/internal/server"
)

// ttlSlack is by how much more than the time that has passed a TTL may have become
// shorter, for clocks of different speed and commands under way.
const ttlSlack = time.Second

// Repair expires or deletes the key of a finding, if the key still holds the very
// value that was found, by its first 256 bytes and its length, or by its field
// names; and if its TTL is what it was: none, or not shorter than passing time has
// made it. A renewed lock is still the same. Value and TTL are compared, and the
// action is done, in one step of the server; nothing that replaced the lock in the
// meantime is touched.
//
// It refuses, before any command is sent,
//   - what this Scanner has not confirmed: [ErrNotConfirmed];
//   - helper keys, keys outside of the pattern, a [ForeignType], and values that do not
//     tell two owners apart: constants, names, short or partly compared values, fields
//     that were not read, and values that another key has, too: [ErrNotRepairable];
//   - keys on nodes, or in slots, of which the last sweep did not read all:
//     [ErrIncomplete];
//   - values that were not seen for as long as [WithRepairMinAge] says: [ErrTooYoung].
//
// What is compared is the value. Where a process may have the same one for its next hold,
// as those of Redisson and Spring do, a key that was released and taken anew between two
// sweeps is not told from one that was not: [PlanRun.Apply] looks at more.
//
// The action is done on the finding's node alone; an [Orphan] has a finding on each.
// Make sure that the holder is gone: a lock that is [HeldTooLong] can have a holder that
// works on, and one without a TTL one that never wanted any.
//
// Repairing again is harmless, and tells that the key is gone or changed. An error
// is a [*RepairError]. The logger of [WithLogger] gets a line for each
// repair. Repair does not wait for a sweep under way, may be called from
// [WithOnFinding]'s function, and concurrently; ctx bounds it.
func (s *Scanner) Repair(ctx context.Context, f Finding, a Action) (Repaired, error) {
	result := Repaired{Node: f.Node, Key: f.Key, Class: f.Class, Action: a, TTL: keyreader.Never}
	own, err := s.repairable(&f, a)
	return s.perform(ctx, result, err, func(ctx context.Context) (RepairOutcome, time.Duration, error) {
		at, err := node.Find(ctx, s.sources, own.Node)
		if err != nil {
			return "", keyreader.Never, err
		}
		return s.repair(ctx, at, &own, a)
	})
}

// perform acts unless err says why not, and tells the logger.
func (s *Scanner) perform(ctx context.Context, result Repaired, err error,
	act func(context.Context) (RepairOutcome, time.Duration, error)) (Repaired, error) {
	if err == nil {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(s.life, func() { cancel(ErrClosed) })()
		result.Outcome, result.TTL, err = act(ctx)
		if err != nil && ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
	}
	if err != nil {
		result.Outcome = ""
		err = &RepairError{Node: result.Node, Key: result.Key, Action: result.Action, Err: err}
	}
	s.audit(ctx, result, err)
	return result, err
}

// audit leaves a trace of every key that was, or was to be, repaired.
func (s *Scanner) audit(ctx context.Context, r Repaired, err error) {
	attrs := []slog.Attr{
		slog.String("node", r.Node), slog.String("key", clipKey(r.Key)), slog.String("class", string(r.Class)),
		slog.String("action", r.Action.String()),
	}
	if err != nil {
		s.cfg.logger.LogAttrs(ctx, slog.LevelWarn, "lock not repaired", append(attrs, slog.String("error", err.Error()))...)
		return
	}
	s.cfg.logger.LogAttrs(ctx, slog.LevelInfo, "lock repaired", append(attrs, slog.String("outcome", string(r.Outcome)))...)
}

// repairable returns the ledger's own f, which callers cannot have changed, if it may be
// repaired.
func (s *Scanner) repairable(f *Finding, a Action) (own ledger.Entry, err error) {
	if s.life.Err() != nil {
		return own, ErrClosed
	}
	if err := a.validate(); err != nil {
		return own, err
	}
	if own, err = s.proved(f); err != nil {
		return own, err
	}
	if err := s.cfg.oldEnough(own.FirstSeen, s.cfg.now()); err != nil {
		return own, fmt.Errorf("%w; a process that does not live as long makes a plan and carries it out later: lockscope repair plan", err)
	}
	return own, nil
}

// proved returns the ledger's own f, if it may be repaired once it is old enough.
func (s *Scanner) proved(found *Finding) (own ledger.Entry, err error) {
	f := ledger.EntryOf(found)
	if err := lockable(&f, s.cfg.scope.Patterns); err != nil {
		return own, err
	}
	own, confirmed := s.ledger.Confirmed(&f)
	if !confirmed {
		return own, ErrNotConfirmed
	}
	return own, s.proof.Load().covers(&own)
}

// lockable says whether f's key is that of a lock, and its value tells whose it is.
func lockable(f *ledger.Entry, patterns []string) error {
	switch {
	case f.Class == ForeignType || f.Identity == "" || f.Identity == f.Type:
		return fmt.Errorf("%w: its value cannot be told from another one; look at it by hand", ErrNotRepairable)
	case keyreader.IsHelper(f.Key):
		return fmt.Errorf("%w: it is a helper key of locks", ErrNotRepairable)
	case !slices.ContainsFunc(patterns, func(p string) bool { return keyreader.Matches(p, f.Key) }):
		return fmt.Errorf("%w: it does not match the pattern %q", ErrNotRepairable, patterns)
	case !f.Distinct:
		return fmt.Errorf("%w: %s; look at it by hand", ErrNotRepairable, cmp.Or(f.Doubt, "its value may be the same for every owner"))
	}
	return nil
}

func (s *Scanner) repair(ctx context.Context, at node.Connection, f *ledger.Entry, a Action) (RepairOutcome, time.Duration, error) {
	r := &repair{master: at.Master, finding: f, action: a, least: leastTTL(f, s.cfg.now())}
	outcome, ttl, err := r.byScript(ctx)
	if err != nil && redisconn.IsReply(err) && server.IsRefused(err) {
		outcome, ttl, err = r.watched(ctx)
	}
	switch {
	case err != nil && redisconn.IsReply(err) && notPermitted(err):
		err = fmt.Errorf("%w; RepairACL lists what a repair needs", err)
	case err != nil && redis.HasErrorPrefix(err, "MOVED"):
		err = fmt.Errorf("the key's slot has moved to another node, sweep again: %w", err)
	}
	return outcome, ttl, err
}

// notPermitted also knows how a script says so.
func notPermitted(err error) bool {
	return strings.HasPrefix(err.Error(), "NOPERM") || strings.Contains(err.Error(), "user executing the script")
}

// leastTTL is the TTL below which the key has been changed since f; Never stands
// for a key without.
func leastTTL(f *ledger.Entry, now time.Time) time.Duration {
	if f.TTL < 0 {
		return keyreader.Never
	}
	passed := max(0, now.Sub(f.LastSeen))
	return max(0, f.TTL-passed-passed/100-ttlSlack)
}
