package gooselock_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"

	"github.com/pressly/goose/v3/database"
)

// versions is goose's table of versions, in memory.
type versions struct {
	mu   sync.Mutex
	rows []int64
}

// created returns the table as goose creates it, with version 0.
func created() *versions { return &versions{rows: []int64{0}} }

func (*versions) Tablename() string { return "versions" }

func (*versions) CreateVersionTable(context.Context, database.DBTxConn) error { return nil }

func (v *versions) Insert(ctx context.Context, _ database.DBTxConn, r database.InsertRequest) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if slices.Contains(v.rows, r.Version) {
		return errors.New("versions: duplicate")
	}
	v.rows = append(v.rows, r.Version)
	return ctx.Err()
}

func (v *versions) Delete(_ context.Context, _ database.DBTxConn, version int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rows = slices.DeleteFunc(v.rows, func(r int64) bool { return r == version })
	return nil
}

func (v *versions) GetMigration(_ context.Context, _ database.DBTxConn, version int64) (*database.GetMigrationResult,
	error,
) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.rows, version) {
		return nil, database.ErrVersionNotFound
	}
	return &database.GetMigrationResult{IsApplied: true}, nil
}

func (v *versions) GetLatestVersion(context.Context, database.DBTxConn) (int64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.rows) == 0 {
		return 0, database.ErrVersionNotFound
	}
	return slices.Max(v.rows), nil
}

func (v *versions) ListMigrations(context.Context, database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []*database.ListMigrationsResult
	for _, row := range slices.Backward(slices.Sorted(slices.Values(v.rows))) {
		all = append(all, &database.ListMigrationsResult{Version: row, IsApplied: true})
	}
	return all, nil
}

// nowhere is a database that is never asked anything: goose only takes connections from it.
type nowhere struct{}

func (n nowhere) Connect(context.Context) (driver.Conn, error) { return n, nil }
func (n nowhere) Driver() driver.Driver                        { return n }
func (n nowhere) Open(string) (driver.Conn, error)             { return n, nil }
func (nowhere) Close() error                                   { return nil }
func (nowhere) Begin() (driver.Tx, error)                      { return nil, errors.ErrUnsupported }
func (nowhere) Prepare(string) (driver.Stmt, error)            { return nil, errors.ErrUnsupported }
