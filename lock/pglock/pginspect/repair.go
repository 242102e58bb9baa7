package pginspect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// guard identifies a transaction of a session.
type guard struct {
	pid         int32
	began, xact time.Time
}

const guardForm = "pid %d, backend_start %s, xact_start %s"

// guardOf is empty for a session that is not idle in a transaction.
func guardOf(v *session) string {
	if v.prepared != "" || v.began == nil || v.xact == nil || !strings.HasPrefix(v.state, "idle in transaction") {
		return ""
	}
	return fmt.Sprintf(guardForm, v.pid, v.began.UTC().Format(time.RFC3339Nano), v.xact.UTC().Format(time.RFC3339Nano))
}

func parseGuard(text string) (g guard, err error) {
	var began, xact string
	if _, err = fmt.Sscanf(strings.ReplaceAll(text, ",", " "), strings.ReplaceAll(guardForm, ",", " "), &g.pid, &began,
		&xact); err != nil {
		return g, err
	}
	if g.began, err = time.Parse(time.RFC3339Nano, began); err == nil {
		g.xact, err = time.Parse(time.RFC3339Nano, xact)
	}
	return g, err
}

const rowUnsafe = "it is a row of pglock: use \"lockscope revoke\""

// repairOf is what a repair does: it ends sessions that are idle in a transaction.
func repairOf(v *session) (do inspect.Action, unsafe string) {
	switch {
	case v.prepared != "":
		return "", "only a person can tell whether to COMMIT PREPARED or to ROLLBACK PREPARED"
	case guardOf(v) == "":
		return "", fmt.Sprintf("its session is idle outside a transaction, as in a pool of connections: end its "+
			"program, or run SELECT pg_terminate_backend(%d)", v.pid)
	}
	return inspect.Terminate, ""
}

// sameTransaction is one session, if it still is idle in the same transaction.
const sameTransaction = "FROM pg_stat_activity WHERE pid = $1 AND backend_start = $2 AND xact_start = $3 AND " +
	"state LIKE 'idle in transaction%'"

// Repair implements inspect.Inspector. One statement compares and ends the session.
func (b *Inspector) Repair(ctx context.Context, _, text string, dry bool) (inspect.Outcome, error) {
	g, err := parseGuard(text)
	if err != nil {
		return "", inspect.Unsafe("the plan has no transaction")
	}
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	query := "SELECT pg_terminate_backend(pid) "
	if dry {
		query = "SELECT true "
	}
	done := false
	err = b.pool.QueryRow(ctx, query+sameTransaction, g.pid, g.began, g.xact).Scan(&done)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return b.otherwise(ctx, &g)
	case err != nil:
		return "", b.explainRepair(err)
	case !done:
		return inspect.Gone, nil
	case dry:
		return inspect.WouldDo, nil
	}
	return inspect.Done, nil
}

// otherwise says why there was nothing to end. A role that may not see a session cannot tell what it does.
func (b *Inspector) otherwise(ctx context.Context, g *guard) (inspect.Outcome, error) {
	var there, hidden bool
	if err := b.pool.QueryRow(ctx, "SELECT count(*) > 0, coalesce(bool_or(backend_start IS NULL), false) "+
		"FROM pg_stat_activity WHERE pid = $1 AND (backend_start IS NULL OR backend_start = $2)", g.pid, g.began).
		Scan(&there, &hidden); err != nil {
		return "", b.explainRepair(err)
	}
	switch {
	case hidden:
		return "", inspect.Unsafe("this role may not see what session %d does: GRANT pg_read_all_stats to it", g.pid)
	case there:
		return inspect.Changed, nil
	}
	return inspect.Gone, nil
}

func (b *Inspector) explainRepair(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "42501" {
		return fmt.Errorf("postgresql %s: %w: GRANT pg_signal_backend to the role of --postgres", b.address,
			inspect.OneLine(err))
	}
	return b.explain(err)
}
