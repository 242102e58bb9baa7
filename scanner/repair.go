package scanner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/lockscope/lockscope/lock/redlock/redisconn"

	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/scanner/internal/keyreader"
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
// Only a finding that this Scanner has confirmed is repaired, and no helper key,
// no key outside of the pattern and no [ForeignType]: else the error is
// [ErrNotConfirmed] or [ErrNotRepairable]. The action is done on the finding's
// node alone; an [Orphan] has a finding on each. Make sure that the holder is gone:
// a lock that is [HeldTooLong] can have a holder that works on.
//
// Repairing again is harmless, and tells that the key is gone or changed. An error
// is a [*RepairError]. The logger of [WithLogger] gets a line for each
// repair. Repair does not wait for a sweep under way, may be called from
// [WithOnFinding]'s function, and concurrently; ctx bounds it.
func (s *Scanner) Repair(ctx context.Context, f Finding, a Action) (Repaired, error) {
	result := Repaired{Node: f.Node, Key: f.Key, Class: f.Class, Action: a, TTL: keyreader.Never}
	err := s.repairable(&f, a)
	if err == nil {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(s.life, func() { cancel(ErrClosed) })()
		result.Outcome, result.TTL, err = s.repair(ctx, &f, a)
		if err != nil && ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
	}
	if err != nil {
		err = &RepairError{Node: f.Node, Key: f.Key, Action: a, Err: err}
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

func (s *Scanner) repairable(f *Finding, a Action) error {
	switch {
	case s.life.Err() != nil:
		return ErrClosed
	case a.validate() != nil:
		return a.validate()
	case f.Class == ForeignType || f.identity == "" || f.identity == f.Type:
		return fmt.Errorf("%w: its value cannot be told from another one; look at it by hand", ErrNotRepairable)
	case keyreader.IsHelper(f.Key):
		return fmt.Errorf("%w: it is a helper key of locks", ErrNotRepairable)
	case !slices.ContainsFunc(s.cfg.patterns(), func(p string) bool { return keyreader.Matches(p, f.Key) }):
		return fmt.Errorf("%w: it does not match the pattern %q", ErrNotRepairable, s.cfg.patterns())
	case !s.ledger.confirms(f):
		return ErrNotConfirmed
	}
	return nil
}

func (s *Scanner) repair(ctx context.Context, f *Finding, a Action) (RepairOutcome, time.Duration, error) {
	master, err := s.masterOf(ctx, f.Node)
	if err != nil {
		return "", keyreader.Never, err
	}
	r := &repair{master: master, finding: f, action: a, least: leastTTL(f, s.cfg.now())}
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
func leastTTL(f *Finding, now time.Time) time.Duration {
	if f.TTL < 0 {
		return keyreader.Never
	}
	passed := max(0, now.Sub(f.LastSeen))
	return max(0, f.TTL-passed-passed/100-ttlSlack)
}

// masterOf finds the server that a finding names. It does without what sweeps know
// of nodes, which is theirs for as long as one is under way.
func (s *Scanner) masterOf(ctx context.Context, node string) (*redis.Client, error) {
	var errs []error
	for _, src := range s.sources {
		if src.cluster == nil && src.name != node {
			continue
		}
		found, err := src.connections(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("find masters of %s: %w", src.name, err))
		}
		for _, c := range found {
			if c.node == node {
				return c.master, nil
			}
		}
	}
	return nil, errors.Join(append(errs, errors.New("there is no such node now"))...)
}
