package scanner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/lockscope/lockscope/scanner/internal/apply"
	"github.com/lockscope/lockscope/scanner/internal/keyreader"
	"github.com/lockscope/lockscope/scanner/internal/ledger"
	"github.com/lockscope/lockscope/scanner/repair"
	"github.com/lockscope/lockscope/scanner/report"
)

// What a repair does, and what became of it; package repair has it all.
type (
	// Action is what [Scanner.Repair] does to a key: [Expire] or [Delete].
	Action = repair.Action
	// Repaired is the result of a repair, with everything an audit line needs.
	Repaired = repair.Result
	// RepairOutcome says what became of a key.
	RepairOutcome = repair.Outcome
	// RepairError reports a failed repair. If the connection failed, the action may have been done: repair again to
	// find out.
	RepairError = repair.Error
)

// The outcomes of a repair.
const (
	RepairDone    = repair.Done
	RepairWouldDo = repair.WouldDo // dry run: the action would have been done
	RepairChanged = repair.Changed // the key has changed since it was found and was not touched
	RepairGone    = repair.Gone    // the key, or the reader of a read/write lock, no longer exists
)

// Errors of repairs, before any command is sent.
var (
	// ErrInvalidAction reports an Action that Expire or Delete did not make, or an expiry below 1 ms.
	ErrInvalidAction = repair.ErrInvalidAction
	// ErrNotConfirmed reports a finding that is not, or no longer, a confirmed one of this Scanner: sweep again.
	ErrNotConfirmed = repair.ErrNotConfirmed
	// ErrNotRepairable reports a key that needs repair by hand: it is not a lock, or its value does not identify one
	// lease.
	ErrNotRepairable = repair.ErrNotRepairable
	// ErrTooYoung reports a value younger than [WithRepairMinAge]: its holder may be at work. The text says how long
	// to wait.
	ErrTooYoung = repair.ErrTooYoung
	// ErrIncomplete reports that the last sweep did not read everything that concerns a finding. The text has the
	// [report.Reason] and the remedy.
	ErrIncomplete = repair.ErrIncomplete
)

// Delete returns the action that deletes the key.
func Delete() Action { return repair.Delete() }

// Expire returns the action that lets the key expire after d, which leaves time to find out why it was there. At
// least 1 ms. It never prolongs a TTL: a key that expires sooner is left alone. A holder that renews its lock undoes
// the action with its next renewal.
func Expire(d time.Duration) Action { return repair.Expire(d) }

// ParseAction parses "delete" or an expiry such as "expire=1h".
func ParseAction(s string) (Action, error) { return repair.ParseAction(s) }

// Repair expires or deletes the key of a finding if the key has not changed:
//
//   - It still holds the value that was found, by the first 256 bytes and the length, or by the field names of a hash.
//   - Its TTL is what it was: none, or not shorter than passing time has made it. A renewed lock is still the same.
//
// Readers of a read/write lock share a key. Repair compares the token and the expiry of the one that was found, acts on
// that one and keeps the others. It leaves an [report.Orphan] alone that was renewed since. For [report.NoTTL] it gives the key the
// TTL of its last reader, or that of [Expire] if it is longer; [Delete] takes out readers whose time is over.
//
// The server compares value and TTL and acts in one step, so nothing that replaced the lock is touched.
//
// Repair refuses, before it sends any command:
//
//   - findings that this Scanner has not confirmed: [ErrNotConfirmed];
//   - helper keys, keys outside the pattern, a [report.ForeignType], and values that do not identify one owner: constants,
//     names, short or partly compared values, fields that were not read, and values that another key has, too:
//     [ErrNotRepairable];
//   - values that a process may reuse for its next lease, which are all but the tokens of lockscope and redsync and the
//     values of ShedLock: only a plan detects that such a key was released and acquired again: [ErrNotRepairable];
//   - leases of lockscope that are [report.HeldTooLong]: their holder renews them, and "lockscope revoke" ends them without two
//     holders: [ErrNotRepairable];
//   - keys on nodes, or in slots, that the last sweep did not read completely: [ErrIncomplete];
//   - values younger than [WithRepairMinAge]: [ErrTooYoung].
//
// Repair acts on the finding's node alone; an [report.Orphan] has one finding on each node. Make sure that the holder is
// gone: a lock that is [report.HeldTooLong] can have a working holder, and a lock without a TTL may be meant to have none.
//
// A second call is harmless, and reports that the key is gone or changed. The error is a [*RepairError]. The logger
// of [WithLogger] gets one line for each repair. Repair does not wait for a running sweep. It may be called
// concurrently, and from the function of [WithOnFinding]. ctx bounds it.
func (s *Scanner) Repair(ctx context.Context, f report.Finding, a Action) (Repaired, error) {
	result := Repaired{Node: f.Node, Key: f.Key, Class: f.Class, Action: a, TTL: keyreader.Never}
	own, err := s.repairable(&f, a)
	return s.perform(ctx, result, err, func(ctx context.Context) (RepairOutcome, time.Duration, error) {
		return s.repairer.Repair(ctx, &own, a)
	})
}

// perform acts unless err is set, and logs the result.
func (s *Scanner) perform(ctx context.Context, result Repaired, err error,
	act func(context.Context) (RepairOutcome, time.Duration, error)) (Repaired, error) {
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
		err = &RepairError{Node: result.Node, Key: result.Key, Action: result.Action, Err: err}
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
func (s *Scanner) audit(ctx context.Context, r Repaired, err error) {
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

// repairable returns the ledger's own copy of f, which callers cannot have changed, if it may be repaired.
func (s *Scanner) repairable(f *report.Finding, a Action) (own ledger.Entry, err error) {
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
			"later (lockscope repair plan)", ErrNotRepairable)
	}
	if err := s.repairer.OldEnough(own.FirstSeen); err != nil {
		return own,
			fmt.Errorf(
				"%w, or make a plan and apply it later (lockscope repair plan)",
				err)
	}
	return own, nil
}

// proved returns the ledger's own copy of f, if it may be repaired once it is old enough.
func (s *Scanner) proved(found *report.Finding) (own ledger.Entry, err error) {
	f := ledger.EntryOf(found)
	if s.system != nil {
		return own, fmt.Errorf("%w: a Scanner of %s repairs nothing", ErrNotRepairable, s.system.Backend())
	}
	if err := apply.Lockable(&f, s.cfg.scope.Patterns); err != nil {
		return own, err
	}
	own, confirmed := s.memory.ledger.Confirmed(&f)
	if !confirmed {
		return own, ErrNotConfirmed
	}
	return own, s.proof.Load().Covers(&own)
}
