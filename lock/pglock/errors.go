package pglock

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockscope/lockscope/lock/driver"
)

// classify says what kind of failure an error of pgx is, and whether the statement was
// sent.
func classify(err error) error {
	if err == nil {
		return nil
	}
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused):
		err = classifyCode(refused, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		err = fmt.Errorf("%w: %w", driver.ErrTimeout, err)
	case isConnectError(err):
		err = fmt.Errorf("%w: %w: %w", driver.ErrNotSent, driver.ErrUnreachable, err)
	case strings.Contains(err.Error(), "closed pool"):
		return fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed)
	}
	if pgconn.SafeToRetry(err) && !errors.Is(err, driver.ErrNotSent) {
		err = fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	return err
}

func isConnectError(err error) bool {
	var connect *pgconn.ConnectError
	return errors.As(err, &connect)
}

// classifyCode goes by the codes of PostgreSQL's documentation, appendix A.
func classifyCode(refused *pgconn.PgError, err error) error {
	var class error
	remedy := ""
	switch code := refused.Code; {
	case code == "25006":
		class, remedy = driver.ErrReplica, ": connect to the primary (target_session_attrs=read-write)"
	case code == "42501", strings.HasPrefix(code, "28"):
		class, remedy = driver.ErrDenied, ": Grant gives a role what it needs"
	case code == "3F000", code == "42883", code == "42P01", code == "42703", code == "3D000":
		class, remedy = driver.ErrMisconfigured, ": run Migrate on this database, with the same schema"
	case code == "0A000":
		class, remedy = driver.ErrMisconfigured, ": read committed is needed"
	case code == "57P01", code == "57P02", code == "57P03", code == "53300", strings.HasPrefix(code, "08"):
		class = driver.ErrUnreachable
	case code == "57014", code == "55P03":
		class = driver.ErrTimeout
	case strings.HasPrefix(code, "53"):
		class = driver.ErrMisconfigured
	default:
		return err
	}
	return fmt.Errorf("%w: %w%s", class, err, remedy)
}
