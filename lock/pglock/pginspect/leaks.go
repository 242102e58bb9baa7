package pginspect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
	"github.com/lockscope/lockscope/lock/pglock"
)

const typeRow = "row"

// Leaks implements inspect.Inspector: advisory locks, transactions that sit idle with rows locked, and rows of pglock.
// It reads in one transaction that cannot write.
func (b *Inspector) Leaks(ctx context.Context, r *inspect.Rules) (l inspect.Look, err error) {
	err = b.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		s := &leakScan{tx: tx, rules: r, schema: b.schema, leaks: &l}
		return s.read(ctx)
	})
	return l, b.explain(err)
}

// leakScan is one look at a server.
type leakScan struct {
	tx     pgx.Tx
	rules  *inspect.Rules
	schema string
	leaks  *inspect.Look

	database, user string
	now            time.Time // of the server
}

func (s *leakScan) read(ctx context.Context) error {
	standby := false
	err := step(ctx, func(ctx context.Context) error {
		return s.tx.QueryRow(ctx, "SELECT current_database(), current_user::text, pg_is_in_recovery(), clock_timestamp()").
			Scan(&s.database, &s.user, &standby, &s.now)
	})
	if err != nil {
		return err
	}
	if standby {
		s.leaks.Hide(func(f *inspect.Leak) bool { return f.Type != typeRow })
		s.leaks.Gap(inspect.ReasonReplica, "a standby has none of the primary's sessions and advisory locks: "+
			"scan the primary")
	}
	advisory, err := s.sessions(ctx)
	if err != nil {
		return err
	}
	present, err := s.rows(ctx)
	if err == nil && !present && advisory == 0 && !s.rules.AllowEmpty {
		s.leaks.Gap(inspect.ReasonNoMatch, "database %s has no schema %s and nobody holds an advisory lock: "+
			"check --postgres and --schema, or use --allow-empty", s.database, s.schema)
	}
	return err
}

// rows judges the rows of pglock. present says that there is such a schema.
func (s *leakScan) rows(ctx context.Context) (present bool, err error) {
	var schema pglock.Schema
	err = step(ctx, func(ctx context.Context) (err error) {
		schema, err = pglock.ReadSchema(ctx, s.tx, s.schema)
		return err
	})
	place := s.database + "/" + s.schema
	switch {
	case err != nil:
		return false, err
	case !schema.Present && s.rules.Schema:
		s.leaks.Gap(inspect.ReasonValuesUnread, "there is no schema %s: check --schema and the database of --postgres",
			place)
		return false, nil
	case !schema.Present:
		s.leaks.Skip(inspect.ReasonValuesUnread, "there is no schema %s, so no locks of pglock were read", place)
		return false, nil
	case !schema.Usage || slices.Contains(schema.Denied, "view held"):
		s.leaks.Gap(inspect.ReasonValuesUnread, "role %s may not read the locks of %s: "+
			"let the owner of the schema run pglock.Grant for it", s.user, place)
		s.leaks.Hide(func(f *inspect.Leak) bool { return f.Place == place })
		return true, nil
	}
	var held []inspect.HeldLock
	err = step(ctx, func(ctx context.Context) (err error) {
		held, err = pglock.ReadHeldLocks(ctx, s.tx, s.schema)
		return err
	})
	if err != nil {
		return true, err
	}
	for i := range held {
		s.judgeRow(&held[i], place)
	}
	s.leaks.Count(len(held), "locks of pglock")
	return true, step(ctx, func(ctx context.Context) error { return s.leftovers(ctx, place) })
}

// judgeRow reports what is wrong with a lock of pglock.
func (s *leakScan) judgeRow(h *inspect.HeldLock, place string) {
	l := inspect.Leak{Class: inspect.NoTTL, Place: place, Key: h.Key, Type: typeRow, TTL: h.Remaining,
		Hold:     inspect.Hold{Holder: h.Holder, Format: inspect.FormatLockscope, Fence: h.Fence},
		Identity: fmt.Sprint(h.Fence), Unsafe: rowUnsafe}
	if h.Holder == (lock.Holder{}) {
		l.Hold.Format, l.Hold.Fence = inspect.FormatUnknown, 0
	}
	if h.Remaining < 0 {
		s.leaks.Add(s.rules, l, "it never expires: it stays until its holder or a person deletes it")
		return
	}
	if l.Class = inspect.LongTTL; h.Remaining > s.rules.MaxTTL {
		s.leaks.Add(s.rules, l, "its TTL is %s, longer than the limit of %s", inspect.Whole(h.Remaining),
			inspect.Whole(s.rules.MaxTTL))
	}
	if held, limit, tooLong := s.rules.TooLong(&h.Holder, s.now); tooLong {
		l.Class = inspect.HeldTooLong
		s.leaks.Add(s.rules, l, "one holder has had it for %s, longer than the limit of %s", inspect.Whole(held),
			inspect.Whole(limit))
	}
}

// leftoverAfter is when a row that nobody released should long be pruned.
const leftoverAfter = pglock.PruneAfter + time.Hour

// leftovers finds rows that expired long ago and still name a holder: it died, and no process prunes the schema.
func (s *leakScan) leftovers(ctx context.Context, place string) error {
	if !s.rules.Wants(inspect.Orphan) {
		return nil
	}
	table := pgx.Identifier{s.schema, "lock"}.Sanitize()
	may := false
	if err := s.tx.QueryRow(ctx, "SELECT has_table_privilege($1, 'SELECT')", table).Scan(&may); err != nil {
		return err
	}
	if !may {
		s.leaks.Hide(func(f *inspect.Leak) bool { return f.Class == inspect.Orphan && f.Place == place })
		add := s.leaks.Skip
		if s.rules.Orphans {
			add = s.leaks.Gap
		}
		add(inspect.ReasonValuesUnread, "role %s may not read table lock of %s, so rows past their expiry were not "+
			"looked for: only the schema's owner may", s.user, place)
		return nil
	}
	rows, err := s.tx.Query(ctx, "SELECT key, expires, coalesce(extract(epoch FROM expires), 0)::bigint::text || '/' || "+
		"counter FROM "+table+" WHERE token IS NOT NULL AND (expires IS NULL OR "+
		"expires < clock_timestamp() - make_interval(secs => $1)) ORDER BY expires NULLS FIRST, key LIMIT $2",
		leftoverAfter.Seconds(), s.rules.Most)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key, identity string
		var expires *time.Time
		if err := rows.Scan(&key, &expires, &identity); err != nil {
			return err
		}
		evidence := "it names a holder but has no expiry: nobody holds it, and nobody prunes it"
		if expires != nil {
			evidence = fmt.Sprintf("it expired %s ago and nobody released it: its holder died, and no process prunes "+
				"the schema", inspect.Short(s.now.Sub(*expires)))
		}
		s.leaks.Add(s.rules, inspect.Leak{Class: inspect.Orphan, Place: place, Key: key, Type: typeRow, Identity: identity,
			Unsafe: rowUnsafe}, "%s", evidence)
	}
	return rows.Err()
}
