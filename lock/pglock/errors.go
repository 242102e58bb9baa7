package pglock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockscope/lockscope/lock/driver"
)

// classify adds the class of a pgx error, and [driver.ErrNotSent] if the statement was not sent.
func classify(err error) error {
	if err == nil {
		return nil
	}
	var refused *pgconn.PgError
	err = oneLine(err)
	switch {
	case errors.As(err, &refused):
		err = classifyCode(refused, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		err = fmt.Errorf("%w: %w", driver.ErrTimeout, err)
	case isConnectError(err):
		err = notConnected(err)
	case strings.Contains(err.Error(), "closed pool"):
		return fmt.Errorf("%w: %w", driver.ErrNotSent, driver.ErrClosed)
	}
	if pgconn.SafeToRetry(err) && !errors.Is(err, driver.ErrNotSent) {
		err = fmt.Errorf("%w: %w", driver.ErrNotSent, err)
	}
	return err
}

// notConnected means that no connection could be made.
func notConnected(err error) error {
	text := err.Error()
	err = fmt.Errorf("%w: %w: %w", driver.ErrNotSent, driver.ErrUnreachable, err)
	if strings.Contains(text, "x509:") || strings.Contains(text, "tls:") || strings.Contains(text, "TLS") {
		return fmt.Errorf("%w: check sslmode, sslrootcert and the host name in the connection string", err)
	}
	return driver.WithRemedy(err, checkServer)
}

const checkServer = `check the address, and the server with "lockscope doctor"`

// oneLine puts an error of pgx on one line. pgx reports one for each address that it tried, with
// TLS and without.
func oneLine(err error) error {
	if !strings.Contains(err.Error(), "\n") {
		return err
	}
	head, rest, _ := strings.Cut(err.Error(), "\n")
	var tried []string
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(tried, line) {
			tried = append(tried, line)
		}
	}
	return &flat{head + " " + strings.Join(tried, "; "), err}
}

type flat struct {
	text string
	err  error
}

func (e *flat) Error() string { return e.text }
func (e *flat) Unwrap() error { return e.err }

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
	case code == "28P01":
		class, remedy = driver.ErrDenied,
			": correct the password, or the name of the role"
	case strings.HasPrefix(code, "28"):
		class, remedy = driver.ErrDenied, ": create the role, or allow it to connect from here (pg_hba.conf)"
	case code == "42501":
		class, remedy = driver.ErrDenied, `: run "lockscope init --postgres" with --grant, or pglock.Grant, for this role`
	case code == "3D000":
		class, remedy = driver.ErrMisconfigured, ": connect to the database that has the schema of the locks"
	case code == "3F000", code == "42883", code == "42P01", code == "42703":
		class, remedy = driver.ErrMisconfigured,
			`: run "lockscope init --postgres" or pglock.Migrate on this database, with the same schema`
	case code == "0A000":
		class, remedy = driver.ErrMisconfigured, ": set default_transaction_isolation to read committed"
	case code == "08P01" && strings.Contains(refused.Message, "startup parameter"):
		class, remedy = driver.ErrMisconfigured,
			": remove the parameter, or add it to pgbouncer's ignore_startup_parameters"
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
