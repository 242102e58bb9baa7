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
)

// What a repair does, and what became of it; package repair has it all.
type (
	// Action is what [Scanner.Repair] does to a key: [Expire] or [Delete].
	Action = repair.Action
	// Repaired is the result of a repair. It has all that an audit line needs.
	Repaired = repair.Result
	// RepairOutcome is what became of a key.
	RepairOutcome = repair.Outcome
	// RepairError says that a repair failed. Whether it was done is not known if the
	// connection failed; repairing again tells.
	RepairError = repair.Error
)

// The outcomes of a repair.
const (
	RepairDone    = repair.Done
	RepairWouldDo = repair.WouldDo // dry run: it would have been done
	RepairChanged = repair.Changed // it is not as it was found, and was not touched
	RepairGone    = repair.Gone    // there is no such key any more
)

// Errors of repairs, before any command is sent.
var (
	// ErrInvalidAction says that an Action was not made by Expire or Delete, or with
	// a time that is none.
	ErrInvalidAction = repair.ErrInvalidAction
	// ErrNotConfirmed says that a finding is not, or no longer, a confirmed one of
	// this Scanner: sweep again.
	ErrNotConfirmed = repair.ErrNotConfirmed
	// ErrNotRepairable says that the key must be repaired by hand: it is no lock, or
	// its value cannot be told from another one.
	ErrNotRepairable = repair.ErrNotRepairable
	// ErrTooYoung says that a value has not been seen for the minimum age of
	// [WithRepairMinAge]: its holder may be at work. The text says how long is left.
	ErrTooYoung = repair.ErrTooYoung
	// ErrIncomplete says that the last sweep did not read all that bears on a finding. The
	// text has the [Reason], and what to do about it.
	ErrIncomplete = repair.ErrIncomplete
)

// Delete deletes the key.
func Delete() Action { return repair.Delete() }

// Expire lets the key end by itself after d, which leaves time to find out why it
// was there. At least 1 ms. It never prolongs: a key that ends sooner is left
// alone. A holder that renews its lock undoes it with the next renewal.
func Expire(d time.Duration) Action { return repair.Expire(d) }

// ParseAction reads "delete" or "expire=1h".
func ParseAction(s string) (Action, error) { return repair.ParseAction(s) }

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
// What is compared is the value. Where a process may have the same one for its next lease,
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
		return s.repairer.Repair(ctx, &own, a)
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

// repairable returns the ledger's own f, which callers cannot have changed, if it may be
// repaired.
func (s *Scanner) repairable(f *Finding, a Action) (own ledger.Entry, err error) {
	if s.life.Err() != nil {
		return own, ErrClosed
	}
	if err := a.Validate(); err != nil {
		return own, err
	}
	if own, err = s.proved(f); err != nil {
		return own, err
	}
	if err := s.repairer.OldEnough(own.FirstSeen); err != nil {
		return own,
			fmt.Errorf(
				"%w, or make a plan and apply it later (lockscope repair plan)",
				err)
	}
	return own, nil
}

// proved returns the ledger's own f, if it may be repaired once it is old enough.
func (s *Scanner) proved(found *Finding) (own ledger.Entry, err error) {
	f := ledger.EntryOf(found)
	if err := apply.Lockable(&f, s.cfg.scope.Patterns); err != nil {
		return own, err
	}
	own, confirmed := s.memory.ledger.Confirmed(&f)
	if !confirmed {
		return own, ErrNotConfirmed
	}
	return own, s.proof.Load().Covers(&own)
}
