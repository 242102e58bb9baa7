package fencing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Migration creates the table that [Guard] needs, if it is not there.
const Migration = `CREATE TABLE IF NOT EXISTS lockscope_fences (resource TEXT PRIMARY KEY, fence BIGINT NOT NULL)`

// raise inserts the token, or lifts the one that is there. It changes no row if that is higher.
const raise = `INSERT INTO lockscope_fences (resource, fence) VALUES ($1, $2)
	ON CONFLICT (resource) DO UPDATE SET fence = excluded.fence WHERE lockscope_fences.fence <= excluded.fence`

// Tx is a *sql.Tx, or a type that embeds one. Guard does not end the transaction. Commit and Rollback keep out a *sql.DB
// and a *sql.Conn, where the statements after Guard would run without its row lock.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	Commit() error
	Rollback() error
}

// Guard lets a transaction go on if fence is not lower than any token that a committed transaction has passed for
// resource. Call it first in the transaction. From then on until the transaction ends, other calls for that resource
// wait, and when it commits, lower tokens are refused for good. The same token passes again: a lease may write often.
//
// Guard fails with *StaleError if fence is too low, and with lock.ErrInvalidOption if fence is 0, which no lease with
// a token has; see [lock.Fenced]. Roll the transaction back after an error. The table is that of [Migration].
//
// PostgreSQL checks REPEATABLE READ and SERIALIZABLE transactions in its own way, too. If another transaction has written
// the resource's token since the snapshot of yours, Guard, a later statement or Commit fails with SQLSTATE 40001, which
// is no *StaleError. Roll back and repeat the whole transaction with the same token, as after any 40001: Guard then
// passes, or fails with *StaleError.
func Guard(ctx context.Context, tx Tx, resource string, fence uint64) error {
	if err := Check(resource, fence); err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, raise, resource, int64(fence))
	if err != nil {
		return fmt.Errorf("fencing: %q: %w", resource, err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	stale := &StaleError{Resource: resource, Fence: fence}
	err = tx.QueryRowContext(ctx, `SELECT fence FROM lockscope_fences WHERE resource = $1`, resource).Scan(&stale.Seen)
	return errors.Join(stale, err)
}
