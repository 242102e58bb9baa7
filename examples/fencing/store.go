package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // driver "pgx"
	_ "modernc.org/sqlite"             // driver "sqlite"
)

var (
	// ErrStale says that a write came with a fencing token lower than one that
	// was seen before: its writer no longer holds the lock. Nothing was changed.
	ErrStale = errors.New("store: stale fencing token")
	// ErrNoAccount says that there is no such account.
	ErrNoAccount = errors.New("store: no such account")
)

// Store keeps accounts in a SQL table, twice: once with fencing tokens, and once
// without, to show what they are for.
//
// The contract: a write carries the token of the lease under which it was decided,
// and the store accepts it only if it has seen no higher token for that account. A
// lease may write often, because equal tokens are accepted. The first write of a
// later lease bars all lower tokens for good. Check and write are one statement, so
// that nothing can come between them. The token is stored with the data, so that it
// survives restarts of lockers, Redis nodes and store. No clock takes part.
//
// If you read under the lock, raise the token first: until your first guarded write,
// the previous holder can still write. Here a writer's balance comes from what it has
// read, so Read raises it.
//
// All methods are safe for concurrent use.
type Store struct {
	db    *sql.DB
	name  string
	table string
}

// Account is one row.
type Account struct {
	Balance  int64  // written with the check
	Fence    uint64 // the highest token seen
	Unfenced int64  // the same balance, written without
}

// Open opens PostgreSQL for a DSN like postgres://user@host/database, else SQLite
// in the file of that name, and creates the table, which must not exist.
func Open(ctx context.Context, dsn, table string) (*Store, error) {
	driver, name := "sqlite", "SQLite"
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		driver, name = "pgx", "PostgreSQL"
	} else {
		// Writers queue for the file instead of failing.
		dsn = "file:" + dsn + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{db: db, name: name, table: table}
	err = s.exec(ctx, `CREATE TABLE %s (
		id       TEXT   PRIMARY KEY,
		balance  BIGINT NOT NULL,
		fence    BIGINT NOT NULL,
		unfenced BIGINT NOT NULL)`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// String names the database.
func (s *Store) String() string { return s.name }

// Create adds an account that no token was seen for.
func (s *Store) Create(ctx context.Context, id string, balance int64) error {
	return s.exec(ctx, `INSERT INTO %s (id, balance, fence, unfenced) VALUES ($1, $2, 0, $2)`, id, balance)
}

// Read returns an account for the holder of a lease. From then on the store rejects
// lower tokens, so the account does not change while the holder has the lock. Read
// fails with ErrStale if the holder itself is too late.
func (s *Store) Read(ctx context.Context, fence uint64, id string) (Account, error) {
	number, err := toSQL(fence)
	if err != nil {
		return Account{}, err
	}
	var a Account
	row := s.db.QueryRowContext(ctx, fmt.Sprintf(
		`UPDATE %s SET fence = $1 WHERE id = $2 AND fence <= $1 RETURNING balance, fence, unfenced`, s.table), number,
		id)
	err = row.Scan(&a.Balance, &a.Fence, &a.Unfenced)
	if errors.Is(err, sql.ErrNoRows) {
		return Account{}, s.why(ctx, fence, id)
	}
	return a, wrap(err)
}

// Look returns an account without a token, for readers that do not write.
func (s *Store) Look(ctx context.Context, id string) (a Account, err error) {
	row := s.db.QueryRowContext(ctx, fmt.Sprintf(`SELECT balance, fence, unfenced FROM %s WHERE id = $1`, s.table), id)
	err = row.Scan(&a.Balance, &a.Fence, &a.Unfenced)
	if errors.Is(err, sql.ErrNoRows) {
		return a, fmt.Errorf("%w: %q", ErrNoAccount, id)
	}
	return a, wrap(err)
}

// Update sets the balance of an account if fence is not lower than any token seen
// for it, else fails with ErrStale and changes nothing.
func (s *Store) Update(ctx context.Context, fence uint64, id string, balance int64) error {
	number, err := toSQL(fence)
	if err != nil {
		return err
	}
	result, err := s.db.ExecContext(ctx, fmt.Sprintf(
		`UPDATE %s SET balance = $1, fence = $2 WHERE id = $3 AND fence <= $2`, s.table), balance, number, id)
	if err != nil {
		return wrap(err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return wrap(err)
	}
	return s.why(ctx, fence, id)
}

// UpdateUnfenced is what most programs do. Do not.
func (s *Store) UpdateUnfenced(ctx context.Context, id string, balance int64) error {
	return s.exec(ctx, `UPDATE %s SET unfenced = $1 WHERE id = $2`, balance, id)
}

// Close drops the table, which Open made, and closes the database.
func (s *Store) Close() error {
	return errors.Join(s.exec(context.Background(), `DROP TABLE %s`), wrap(s.db.Close()))
}

// why tells a stale token from an account that is not there, after a statement
// that met no row. It decides nothing any more.
func (s *Store) why(ctx context.Context, fence uint64, id string) error {
	a, err := s.Look(ctx, id)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %d for %q, after %d", ErrStale, fence, id, a.Fence)
}

func (s *Store) exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.db.ExecContext(ctx, fmt.Sprintf(statement, s.table), args...)
	return wrap(err)
}

func wrap(err error) error {
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// toSQL makes a signed number of a token: SQL has no other.
func toSQL(fence uint64) (int64, error) {
	if fence > math.MaxInt64 {
		return 0, fmt.Errorf("store: fencing token %d does not fit BIGINT", fence)
	}
	return int64(fence), nil
}
