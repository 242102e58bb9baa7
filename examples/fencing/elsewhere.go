package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	_ "github.com/go-sql-driver/mysql" // driver "mysql"
	"github.com/redis/go-redis/v9"

	"github.com/lockscope/lockscope/lock/fencing"
	"github.com/lockscope/lockscope/lock/fencing/redisfence"
	"github.com/lockscope/lockscope/lock/redlock"
)

// place is another storage that keeps a balance and checks tokens, by package fencing. Its names are its own, and close
// removes them.
type place struct {
	name  string
	write func(ctx context.Context, fence uint64, balance int64) error
	read  func(ctx context.Context) (int64, error)
	close func() error
}

// inRedis keeps the balance in a key.
func inRedis(url, run string) (*place, error) {
	opt, err := redlock.ParseURL(url)
	if err != nil {
		return nil, err
	}
	c := redis.NewClient(opt)
	key, resource := "{"+run+"}:balance", account
	return &place{
		name: "Redis",
		write: func(ctx context.Context, fence uint64, balance int64) error {
			return redisfence.Set(ctx, c, resource, fence, key, balance, 0)
		},
		read: func(ctx context.Context) (int64, error) { return c.Get(ctx, key).Int64() },
		close: func() error {
			seen := "lockscope:seen:{" + run + "}:" + resource
			return errors.Join(c.Del(context.Background(), key, seen).Err(), c.Close())
		},
	}, nil
}

// inBucket keeps the balance in an object on S3; see openBucket.
func inBucket(ctx context.Context, server, run string) (*place, error) {
	store, name, remove, err := openBucket(ctx, server, run)
	if err != nil {
		return nil, err
	}
	return &place{
		name: name,
		write: func(ctx context.Context, fence uint64, balance int64) error {
			return fencing.UpdateObject(ctx, store, objectKey, fence, func([]byte) ([]byte, error) {
				return strconv.AppendInt(nil, balance, 10), nil
			})
		},
		read: func(ctx context.Context) (int64, error) {
			content, _, err := fencing.ReadObject(ctx, store, objectKey)
			if err != nil {
				return 0, err
			}
			return strconv.ParseInt(string(content), 10, 64)
		},
		close: remove,
	}, nil
}

// inMySQL keeps the balance in a table of MySQL or MariaDB. It returns nil without a DSN.
func inMySQL(ctx context.Context, dsn, run string) (*place, error) {
	if dsn == "" {
		return nil, nil
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return nil, fmt.Errorf("mysql: %w", err)
	}
	for _, statement := range []string{
		fencing.MigrationMySQL,
		"CREATE TABLE " + run + " (balance BIGINT NOT NULL) ENGINE=InnoDB",
		"INSERT INTO " + run + " VALUES (" + strconv.Itoa(opening) + ")",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return nil, errors.Join(fmt.Errorf("mysql: %w", err), db.Close())
		}
	}
	resource := run + ":" + account
	return &place{
		name: "MySQL",
		write: func(ctx context.Context, fence uint64, balance int64) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			if err := fencing.GuardMySQL(ctx, tx, resource, fence); err != nil {
				return errors.Join(err, tx.Rollback())
			}
			if _, err := tx.ExecContext(ctx, "UPDATE "+run+" SET balance = ?", balance); err != nil {
				return errors.Join(err, tx.Rollback())
			}
			return tx.Commit()
		},
		read: func(ctx context.Context) (balance int64, err error) {
			return balance, db.QueryRowContext(ctx, "SELECT balance FROM "+run).Scan(&balance)
		},
		close: func() error {
			_, forgotten := db.Exec("DELETE FROM lockscope_fences WHERE resource = ?", resource)
			_, dropped := db.Exec("DROP TABLE " + run)
			return errors.Join(forgotten, dropped, db.Close())
		},
	}, nil
}

// repeat writes as B did, and then as A did too late.
func (s *story) repeat(ctx context.Context, p *place) error {
	if err := p.write(ctx, s.later, opening+ofB); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	stale := p.write(ctx, s.late, opening+ofA)
	balance, err := p.read(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if !errors.Is(stale, fencing.ErrStale) || balance != opening+ofB {
		return fmt.Errorf("%s: a stale write was accepted (%v): the balance is %d", p.name, stale, balance)
	}
	fmt.Fprintf(s.out, "%-12s REJECTED. %d stays\n", p.name, balance)
	return nil
}
