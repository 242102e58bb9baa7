package scanner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/scanner/internal/apply"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/registry"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// Repair expires or deletes the key of a finding if the key has not changed:
//
//   - It still holds the value that was found, by the first 256 bytes and the length, or by the field names of a hash.
//   - Its TTL is what it was: none, or not shorter than passing time has made it. A renewed lock is still the same.
//
// Readers of a read/write lock share a key. Repair compares the token and the expiry of the one that was found, acts on
// that one and keeps the others. It does not touch an [inspect.Orphan] that was renewed since. For [inspect.NoTTL] it
// gives the key the TTL of its last reader, or that of [repair.Expire] if it is longer; [repair.Delete] removes expired
// readers.
//
// The server compares value and TTL and acts in one step, so nothing that replaced the lock is touched.
//
// Repair refuses, before it sends any command:
//
//   - findings that this Scanner has not confirmed: [repair.ErrNotConfirmed];
//   - helper keys, keys outside the pattern, a [inspect.ForeignType], and values that do not identify one owner:
//     constants, names, short or partly compared values, fields that were not read, and values that another key has,
//     too: [repair.ErrNotRepairable];
//   - values that a process may reuse for its next lease, which are all but the tokens of lockscope and redsync and the
//     values of ShedLock: only a plan detects that such a key was released and acquired again:
//     [repair.ErrNotRepairable];
//   - leases of lockscope that are [inspect.HeldTooLong]: their holder renews them, and "lockscope revoke" ends them
//     without two holders: [repair.ErrNotRepairable];
//   - keys on nodes, or in slots, that the last sweep did not read completely: [repair.ErrIncomplete];
//   - values younger than [WithRepairMinAge]: [repair.ErrTooYoung].
//
// Repair acts on the finding's node alone; an [inspect.Orphan] has one finding on each node. Make sure that the holder
// is gone: a lock that is [inspect.HeldTooLong] can have a working holder, and a lock without a TTL may be meant to have
// none.
//
// A second call is harmless, and reports that the key is gone or changed. The error is a [*repair.Error]. The logger
// of [WithLogger] gets one line for each repair. Repair does not wait for a running sweep. It may be called
// concurrently, and from the function of [WithOnFinding]. ctx bounds it.
func (s *Scanner) Repair(ctx context.Context, f report.Finding, a repair.Action) (repair.Result, error) {
	result := repair.Result{Node: f.Node, Key: f.Key, Class: f.Class, Action: a, TTL: keyreader.Never}
	own, err := s.repairable(&f, a)
	return s.perform(ctx, result, err, func(ctx context.Context) (inspect.Outcome, time.Duration, error) {
		return s.repairer.Repair(ctx, &own, a)
	})
}

// perform acts unless err is set, and logs the result.
func (s *Scanner) perform(ctx context.Context, result repair.Result, err error,
	act func(context.Context) (inspect.Outcome, time.Duration, error)) (repair.Result, error) {
	if err == nil {
		ctx, cancel := s.during(ctx)
		defer cancel()
		result.Outcome, result.TTL, err = act(ctx)
		if err != nil && ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err)
		}
	}
	if err != nil {
		result.Outcome = ""
		err = &repair.Error{Node: result.Node, Key: result.Key, Action: result.Action, Err: err}
	}
	s.audit(ctx, result, err)
	return result, err
}

// during returns a context that ends with the Scanner, too: its cause is [ErrClosed] then.
func (s *Scanner) during(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if s.life.Err() != nil {
		cancel(ErrClosed)
	}
	stop := context.AfterFunc(s.life, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// audit logs every key that was, or was to be, repaired.
func (s *Scanner) audit(ctx context.Context, r repair.Result, err error) {
	attrs := []slog.Attr{
		slog.String("node", r.Node), slog.String("key", repair.ClipKey(r.Key)), slog.String("class", string(r.Class)),
		slog.String("action", r.Action.String()),
	}
	if err != nil {
		s.cfg.logger.LogAttrs(ctx, slog.LevelWarn, "lock not repaired",
			append(attrs, slog.String("error", err.Error()))...)
		return
	}
	s.cfg.logger.LogAttrs(ctx, slog.LevelInfo, "lock repaired", append(attrs, slog.String("outcome",
		string(r.Outcome)))...)
}

// repairable returns the registry's own copy of f, which callers cannot have changed, if it may be repaired.
func (s *Scanner) repairable(f *report.Finding, a repair.Action) (own registry.Entry, err error) {
	if s.life.Err() != nil {
		return own, ErrClosed
	}
	if err := a.Validate(); err != nil {
		return own, err
	}
	if own, err = s.proved(f); err != nil {
		return own, err
	}
	if own.Kept {
		return own, fmt.Errorf("%w: a process may reuse this value for its next lease: make a plan, and apply it "+
			"later (lockscope repair plan)", repair.ErrNotRepairable)
	}
	if err := s.repairer.OldEnough(own.FirstSeen); err != nil {
		return own, fmt.Errorf("%w, or make a plan and apply it later (lockscope repair plan)", err)
	}
	return own, nil
}

// proved returns the registry's own copy of f, if it may be repaired once it is old enough.
func (s *Scanner) proved(found *report.Finding) (own registry.Entry, err error) {
	f := registry.EntryOf(found)
	if s.system != nil {
		return own, fmt.Errorf("%w: a Scanner of %s repairs nothing", repair.ErrNotRepairable, s.system.name)
	}
	if err := apply.Lockable(&f, s.cfg.scope.Patterns); err != nil {
		return own, err
	}
	own, confirmed := s.memory.findings.Confirmed(&f)
	if !confirmed {
		return own, repair.ErrNotConfirmed
	}
	return own, s.proof.Load().Covers(&own)
}

// RepairACL returns the ACL rules that [Scanner.Repair] and [PlanRun.Apply] need in addition to [ListACL]. The keys
// must be writable. Where a user may run no scripts, watch, multi and exec replace evalsha and eval. They also serve
// [Scanner.Plan] and [PlanRun.Apply], with object|idletime, for values that a process may reuse.
func RepairACL() []string {
	return []string{"+evalsha", "+eval", "+time", "+hset", "+hdel", "+del", "+pexpire", "+watch", "+multi",
		"+exec", "+object|idletime"}
}
