package pginspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver"
	"github.com/lockscope/lockscope/lock/driver/inspect"
)

const (
	statementTimeout = 10 * time.Second // of a statement, on the server
	stepTimeout      = statementTimeout + inspect.DialTimeout
	readTimeout      = time.Minute // of all steps
)

// read runs do in a transaction that cannot write.
func (b *Inspector) read(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, fmt.Errorf("%w: %v were not enough to read it",
		driver.ErrUnreachable, readTimeout))
	defer cancel()
	if err := b.answers(ctx); err != nil {
		return err
	}
	var tx pgx.Tx
	if err := step(ctx, func(ctx context.Context) (err error) {
		tx, err = b.pool.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
		return err
	}); err != nil {
		return err
	}
	defer func() { _ = step(ctx, tx.Rollback) }() // it has written nothing, and one that fails closes the connection
	err := step(ctx, func(ctx context.Context) error {
		_, err := tx.Exec(ctx, fmt.Sprintf("SET LOCAL statement_timeout = %d", statementTimeout.Milliseconds()))
		return err
	})
	if err == nil {
		err = do(ctx, tx)
	}
	return err
}

// step runs a part of a reading. A server that stops answering in the middle of it does not take a whole readTimeout.
func step(ctx context.Context, part func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, errSilent)
	defer cancel()
	err := part(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, driver.ErrUnreachable) {
		return cause
	}
	return err
}

var errSilent = fmt.Errorf("%w: no answer within %v", driver.ErrUnreachable, stepTimeout)

// answers asks for a first answer, so that a server that hangs is known in seconds.
func (b *Inspector) answers(ctx context.Context) error {
	first, cancel := context.WithTimeout(ctx, inspect.DialTimeout)
	defer cancel()
	err := b.pool.Ping(first)
	if err != nil && first.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: no answer within %v", driver.ErrUnreachable, inspect.DialTimeout)
	}
	return err
}
