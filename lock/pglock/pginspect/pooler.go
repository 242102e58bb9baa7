package pginspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lockscope/lockscope/lock/driver/inspect"
)

// pooler is what stands between a client and the server.
type pooler struct {
	Mode   string // "": there is none
	Unread error
}

// The pool modes, as pgbouncer calls them.
const (
	sessionPooling     = "session"
	transactionPooling = "transaction"
	statementPooling   = "statement"
)

// askPooler compares the process that answers with the one announced to the client: a pooler
// gives its clients numbers of its own. If two clients that are connected at the same time are answered by
// one process, sessions are shared.
func askPooler(ctx context.Context, c *pgx.ConnConfig) (p pooler) {
	first, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return pooler{Unread: err}
	}
	defer func() { _ = first.Close(context.WithoutCancel(ctx)) }()
	answers, err := answeringProcess(ctx, first)
	if err != nil || answers == first.PgConn().PID() {
		return pooler{Unread: err}
	}
	p.Mode = sessionPooling
	second, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		p.Unread = err
		return p
	}
	defer func() { _ = second.Close(context.WithoutCancel(ctx)) }()
	shared, err := shareSession(ctx, first, second)
	switch {
	case err != nil && isStatementPooling(err):
		p.Mode = statementPooling
	case err != nil:
		p.Unread = err
	case shared:
		p.Mode = transactionPooling
	}
	return p
}

// shareSession opens a transaction, which keeps a process of the server busy: in transaction mode the other
// client is answered by another process while it lasts, or by that one before and after.
func shareSession(ctx context.Context, first, second *pgx.Conn) (bool, error) {
	before, err := answeringProcess(ctx, first)
	if err != nil {
		return false, err
	}
	idle, err := answeringProcess(ctx, second)
	if err != nil {
		return false, err
	}
	tx, err := second.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	busy, err := answeringProcess(ctx, second)
	if err != nil {
		return false, err
	}
	return before == idle || before == busy || idle != busy, nil
}

func isStatementPooling(err error) bool { return strings.Contains(err.Error(), "statement pooling") }

func answeringProcess(ctx context.Context, conn *pgx.Conn) (pid uint32, err error) {
	err = conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&pid)
	return pid, err
}

// checkPooler judges which features work through a pooler.
func checkPooler(p pooler) inspect.Result {
	const listen = "let waiters listen on the server itself (pglock.WithListener), or poll (pglock.WithoutListener)"
	switch {
	case p.Unread != nil && p.Mode == "":
		return inspect.Warned("unknown: "+inspect.OneLine(p.Unread).Error(),
			"try again; if the role has no connection left, see the connections check")
	case p.Unread != nil:
		return inspect.Warned("a pooler in an unknown mode: "+inspect.OneLine(p.Unread).Error(), listen)
	case p.Mode == "":
		return inspect.Passed("none: connections reach the server itself")
	case p.Mode == sessionPooling:
		return inspect.Warned(
			"a pooler in session mode: locks work, but waiters do not use LISTEN through it",
			listen)
	default:
		advice := listen + "; for the services' other queries set default_query_exec_mode=exec, " +
			"and use no session state (SET, advisory locks)"
		if p.Mode == statementPooling {
			advice += "; run \"lockscope init --postgres\" on the server itself"
		}
		const detail = "a pooler in %s mode: locks work; LISTEN/NOTIFY, prepared statements and session state do not"
		return inspect.Warned(fmt.Sprintf(detail, p.Mode), advice)
	}
}
