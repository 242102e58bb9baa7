package fencing

import (
	"context"
	"fmt"

	"github.com/lockscope/lockscope/lock"
)

// MigrationMySQL is [Migration] for MySQL and MariaDB. Names are bytes there, since most collations take different
// names for the same.
const MigrationMySQL = `CREATE TABLE IF NOT EXISTS lockscope_fences (
	resource VARBINARY(512) PRIMARY KEY, fence BIGINT NOT NULL) ENGINE=InnoDB`

// raiseMySQL locks the row, whether or not it changes it. The number of affected rows says nothing: it is 0 for an equal
// token and for a lower one, unless the connection counts found rows.
const raiseMySQL = `INSERT INTO lockscope_fences (resource, fence) VALUES (?, ?)
	ON DUPLICATE KEY UPDATE fence = GREATEST(fence, ?)`

// readMySQL reads the row as it is, and not the transaction's snapshot.
const readMySQL = `SELECT fence FROM lockscope_fences WHERE resource = ? FOR UPDATE`

// GuardMySQL is [Guard] for MySQL and MariaDB, with the table of [MigrationMySQL]. Call it before the first SELECT:
// with REPEATABLE READ, the default, later reads see the data as of that SELECT. It was tested with MariaDB only.
//
// Transactions that meet at a resource's first token can deadlock in InnoDB. One of them fails with error 1213 then:
// repeat it, as after any deadlock.
func GuardMySQL(ctx context.Context, tx Tx, resource string, fence uint64) error {
	if err := Check(resource, fence); err != nil {
		return err
	}
	if len(resource) > lock.MaxResourceLength { // a server that is not strict would cut it
		return fmt.Errorf("fencing: %w: the name has more than %d bytes", lock.ErrInvalidResource, lock.MaxResourceLength)
	}
	token := int64(fence)
	if _, err := tx.ExecContext(ctx, raiseMySQL, resource, token, token); err != nil {
		return fmt.Errorf("fencing: %q: %w", resource, err)
	}
	var seen uint64
	if err := tx.QueryRowContext(ctx, readMySQL, resource).Scan(&seen); err != nil {
		return fmt.Errorf("fencing: %q: %w", resource, err)
	}
	if seen > fence {
		return &StaleError{Resource: resource, Fence: fence, Seen: seen}
	}
	return nil
}
