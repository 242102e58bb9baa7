package pginspect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// sessionsQuery reads advisory locks and transactions that have written or locked rows: those have a transaction
// number. pg_locks is read once, so both are of one moment. Any role may read pg_locks, but pg_stat_activity hides when
// another role's session did what. A prepared transaction has no session: its locks have its virtual transaction.
const sessionsQuery = `WITH l AS MATERIALIZED (
  SELECT * FROM pg_locks WHERE locktype IN ('advisory', 'transactionid', 'relation')
), waits AS (
  SELECT database, classid, objid, objsubid, count(*) AS n FROM l
  WHERE locktype = 'advisory' AND NOT granted GROUP BY 1, 2, 3, 4
), tables AS (
  SELECT l.pid, string_agg(DISTINCT c.oid::regclass::text, ', ') AS names FROM l JOIN pg_class c ON c.oid = l.relation
  WHERE l.locktype = 'relation' AND l.mode NOT IN ('AccessShareLock') AND c.relkind IN ('r', 'p')
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  GROUP BY 1
), prepared AS (
  SELECT l.virtualtransaction, p.* FROM l JOIN pg_prepared_xacts p ON p.transaction = l.transactionid
  WHERE l.pid IS NULL
), subjects AS (
  SELECT pid, virtualtransaction, true AS advisory, database, classid::bigint, objid::bigint, objsubid,
    coalesce(waits.n, 0) AS waiting
  FROM l LEFT JOIN waits USING (database, classid, objid, objsubid) WHERE locktype = 'advisory' AND granted
  UNION ALL
  SELECT DISTINCT pid, virtualtransaction, false, NULL::oid, 0, 0, 0, 0 FROM l
  WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted
)
SELECT s.advisory, coalesce(d.datname, a.datname, p.database, '')::text, s.classid, s.objid, s.objsubid::int,
  s.waiting::int, coalesce(s.pid, 0), coalesce(a.usename, p.owner, '')::text, coalesce(a.application_name, ''),
  coalesce(host(a.client_addr), ''), coalesce(a.state, ''), coalesce(p.gid, ''), coalesce(a.state_change, p.prepared),
  coalesce(a.backend_start, p.prepared), a.xact_start, coalesce(tables.names, '')
FROM subjects s LEFT JOIN pg_stat_activity a ON a.pid = s.pid
  LEFT JOIN prepared p ON s.pid IS NULL AND s.virtualtransaction = p.virtualtransaction
  LEFT JOIN pg_database d ON d.oid = s.database LEFT JOIN tables ON tables.pid = s.pid
WHERE s.pid IS DISTINCT FROM pg_backend_pid()`

// session has an advisory lock, or a transaction with rows.
type session struct {
	advisory       bool
	database       string
	class, object  int64
	parts          int // 1: the lock has one number of 64 bits, 2: two numbers
	waiting        int
	pid            int32
	user, app      string
	address        string
	state          string // "" if hidden
	prepared       string // name of the prepared transaction, which has no session
	changed, began *time.Time
	xact           *time.Time // since when it has its transaction; nil without one
	tables         string
}

func (s *leakScan) readSessions(ctx context.Context) ([]session, error) {
	rows, err := s.tx.Query(ctx, sessionsQuery)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (v session, err error) {
		err = row.Scan(&v.advisory, &v.database, &v.class, &v.object, &v.parts, &v.waiting, &v.pid, &v.user, &v.app,
			&v.address, &v.state, &v.prepared, &v.changed, &v.began, &v.xact, &v.tables)
		return v, err
	})
}

func (s *leakScan) sessions(ctx context.Context) (advisory int, err error) {
	var all []session
	err = step(ctx, func(ctx context.Context) (err error) {
		all, err = s.readSessions(ctx)
		return err
	})
	if err != nil {
		return 0, err
	}
	transactions := 0
	hidden, unseen, busy := make(map[int32]bool), make(map[placed]bool), 0
	for i := range all {
		v := &all[i]
		idle := v.prepared != "" || strings.HasPrefix(v.state, "idle")
		switch {
		case v.state == "" && v.prepared == "":
			hidden[v.pid] = true
			unseen[placed{v.database, v.key()}] = true
		case v.advisory && !idle:
			busy++
		case idle:
			s.judge(v)
		}
		if v.advisory {
			advisory++
		} else {
			transactions++
		}
	}
	s.leaks.Count(advisory, "advisory locks")
	s.leaks.Count(transactions, "transactions with locked rows")
	s.leaks.Hide(func(f *inspect.Leak) bool { return unseen[placed{f.Place, f.Key}] })
	s.unseen(len(hidden), busy)
	return advisory, nil
}

// placed is a finding's key.
type placed struct{ place, key string }

func (s *leakScan) unseen(hidden, busy int) {
	if !s.rules.Wants(inspect.HeldTooLong) {
		return
	}
	if hidden > 0 {
		s.leaks.Gap(inspect.ReasonValuesUnread, "role %s may not see since when %s of other roles hold locks: "+
			"GRANT pg_read_all_stats TO %s", s.user, inspect.Count(hidden, "session"), pgx.Identifier{s.user}.Sanitize())
	}
	if busy > 0 {
		s.leaks.Skip(inspect.ReasonUnwatched, "%s of sessions that run a statement: PostgreSQL records since when a "+
			"session is idle, but not since when it holds a lock", inspect.Count(busy, "advisory lock"))
	}
}

// judge reports a session that has been idle for longer than its locks may be held: it took them before.
func (s *leakScan) judge(v *session) {
	if v.changed == nil {
		return
	}
	idle, limit := s.now.Sub(*v.changed), s.rules.HoldLimit("")
	if limit <= 0 || idle <= limit {
		return
	}
	l := inspect.Leak{
		Class: inspect.HeldTooLong, Place: v.database, Key: v.key(), Type: "advisory", TTL: -1,
		Hold:     inspect.Hold{Holder: lock.Holder{Instance: v.name(), Since: *v.changed}, Format: inspect.FormatUnknown},
		Identity: fmt.Sprint(v.pid, v.prepared, v.began, v.changed), Guard: guardOf(v),
	}
	l.Action, l.Unsafe = repairOf(v)
	since := v.changed.UTC().Format("2006-01-02 15:04:05 MST")
	evidence := ""
	if v.advisory {
		evidence = fmt.Sprintf("%s since %s, so it has held the lock for %s or more, longer than the limit of %s",
			v.about(), since, inspect.Whole(idle), inspect.Whole(limit))
	} else {
		l.Type = "transaction"
		evidence = fmt.Sprintf("%s since %s, for %s, longer than the limit of %s, and keeps rows locked",
			v.about(), since, inspect.Whole(idle), inspect.Whole(limit))
		if v.tables != "" {
			evidence += " in " + v.tables
		}
	}
	if v.waiting > 0 {
		evidence += "; waiting for it: " + inspect.Count(v.waiting, "session")
	}
	s.leaks.Add(s.rules, l, "%s", evidence)
}

// key names an advisory lock by the numbers that pg_advisory_lock was called with, or a session.
func (v *session) key() string {
	switch {
	case v.advisory && v.parts == 1:
		return fmt.Sprintf("advisory lock %d", v.class<<32|v.object)
	case v.advisory:
		return fmt.Sprintf("advisory lock (%d, %d)", int32(v.class), int32(v.object))
	case v.prepared != "":
		return "prepared transaction " + inspect.KeyText(v.prepared)
	}
	return fmt.Sprintf("session %d", v.pid)
}

// name is the holder in a few words.
func (v *session) name() string {
	if v.prepared != "" {
		return "prepared transaction " + inspect.KeyText(v.prepared)
	}
	name := fmt.Sprintf("pid %d", v.pid)
	if v.app != "" {
		name = v.app + " " + name
	}
	if v.address != "" {
		name += " from " + v.address
	}
	return name
}

// about says what the session has done for so long.
func (v *session) about() string {
	if v.prepared != "" {
		return fmt.Sprintf("%s of user %s has waited for COMMIT PREPARED", v.name(), v.user)
	}
	return fmt.Sprintf("its session (%s, user %s) has been %s", v.name(), v.user, v.state)
}
